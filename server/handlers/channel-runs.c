// SPDX-License-Identifier: Apache-2.0
#include "server/handlers/channel-runs.h"

#include <stdlib.h>
#include <string.h>

enum { DAY_SECONDS = 86400 };

struct runs_reader {
	const struct channel_runs_query *query;
	struct channel_runs *runs;
	struct arena *text;
};

static const char *copy_or_empty(struct arena *text, const char *s)
{
	return s && *s ? arena_copy(text, str_from(s)) : "";
}

// --- evidence ---

static bool shows_platform(const struct view *v, const char *name)
{
	for (size_t i = 0; i < v->platform_count; i++)
		if (strcmp(v->platform[i]->name, name) == 0)
			return true;
	return false;
}

static void count_run(struct channel_runs *runs, const struct catalog_evidence *r)
{
	int64_t number = (r->received - runs->day[0].day) / DAY_SECONDS;
	if (r->overrides)
		runs->overrides++;
	else if (r->received >= runs->day[0].day && number < CHANNEL_DAYS) {
		runs->day[number].passed += r->passed;
		runs->day[number].failed += r->failed;
		runs->day[number].skipped += r->skipped;
	}
}

static struct catalog_evidence copy_run(struct arena *text, const struct catalog_evidence *r)
{
	struct catalog_evidence copy = *r;
	const char **const member[] = {&copy.kind, &copy.platform, &copy.python, &copy.by, &copy.address, &copy.views};
	for (size_t i = 0; i < ARRAY_SIZE(member); i++)
		*member[i] = copy_or_empty(text, *member[i]);
	copy.overrides = r->overrides ? copy_or_empty(text, r->overrides) : NULL;
	return copy;
}

static int take_run(void *ctx, const struct catalog_evidence *r, struct err *e UNUSED)
{
	struct runs_reader *reader = ctx;
	struct channel_runs *runs = reader->runs;
	const struct channel_runs_query *q = reader->query;
	if (!shows_platform(q->view, r->platform) || (q->judge && !catalog_evidence_counts_for(r, q->judge)))
		return 0;
	count_run(runs, r);
	if (runs->runs == q->limit) {
		runs->has_more = true;
		return 0;
	}
	GROW(runs->run, runs->runs, runs->run_room);
	runs->run[runs->runs++] = copy_run(reader->text, r);
	return 0;
}

// --- generations ---

static int take_generation(void *ctx, const struct catalog_generation *g, struct err *e UNUSED)
{
	struct runs_reader *reader = ctx;
	struct channel_runs *runs = reader->runs;
	if (runs->generations == reader->query->limit) {
		runs->has_more = true;
		return 0;
	}
	GROW(runs->generation, runs->generations, runs->generation_room);
	struct catalog_generation *to = &runs->generation[runs->generations++];
	*to = *g;
	to->action = copy_or_empty(reader->text, g->action);
	to->by = copy_or_empty(reader->text, g->by);
	to->reason = copy_or_empty(reader->text, g->reason);
	to->packed = (struct str){0};
	return 0;
}

static int read_generations(struct catalog *c, struct runs_reader *r, struct err *e)
{
	const struct channel_runs_query *q = r->query;
	const char *view = q->view->membership;
	if (!view)
		return 0;
	if (catalog_view_find(c, view, &r->runs->members, e) < 0)
		return -1;
	return catalog_view_generations(c, view, INT64_MAX, q->limit + 1, take_generation, r, e);
}

int channel_runs_read(struct catalog *c, const struct channel_runs_query *query, struct arena *text,
	struct channel_runs *out, struct err *e)
{
	*out = (struct channel_runs){0};
	struct runs_reader r = {query, out, text};
	int64_t today = query->now - query->now % DAY_SECONDS;
	for (int i = 0; i < CHANNEL_DAYS; i++)
		out->day[i].day = today - (int64_t)(CHANNEL_DAYS - 1 - i) * DAY_SECONDS;
	if (catalog_evidence_since(c, out->day[0].day, query->counted, take_run, &r, e) == 0 &&
		read_generations(c, &r, e) == 0)
		return 0;
	channel_runs_release(out);
	return -1;
}

void channel_runs_release(struct channel_runs *r)
{
	free(r->run);
	free(r->generation);
	*r = (struct channel_runs){0};
}
