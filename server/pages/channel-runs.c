// SPDX-License-Identifier: Apache-2.0
#include "server/pages/channel-runs.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/limits.h"

enum { DAY_SECONDS = 86400 };

struct runs_reader {
	const struct channel_runs_query *query;
	struct channel_runs *runs;
	struct arena *text;
	struct catalog *catalog;
	size_t read_bytes; // of generations
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

static struct catalog_evidence copy_run(struct arena *text, const struct catalog_evidence *r, bool sees_names)
{
	struct catalog_evidence copy = *r;
	if (!sees_names)
		copy.by = copy.address = copy.views = "";
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
	runs->run[runs->runs++] = copy_run(reader->text, r, q->sees_names);
	return 0;
}

// --- generations ---

static void copy_change_file(struct channel_change *to, const struct generation_file *from, struct arena *text,
	bool sees_names)
{
	struct generation_file *f = &to->file[to->files++];
	*f = *from;
	f->platform = arena_copy(text, str_from(from->platform));
	f->project = arena_copy(text, str_from(from->project));
	f->filename = arena_copy(text, str_from(from->filename));
	f->tested = membership_tested_copy(text, from->tested, from->testeds);
	f->override = from->override ? arena_copy(text, str_from(from->override)) : NULL;
	f->override_by = from->override_by && sees_names ? arena_copy(text, str_from(from->override_by)) : NULL;
}

// Overrides come first, so that they are not among those that are left out. Who may read the view may know of the files
// of its platforms, and of no other.
static int take_change(struct runs_reader *reader, const struct catalog_generation *g, struct channel_change *out,
	struct err *e)
{
	CLEANUP(generation_files_release) struct generation_files of = {0};
	size_t left = LIMIT_EXPLAIN_GENERATIONS > reader->read_bytes ? LIMIT_EXPLAIN_GENERATIONS - reader->read_bytes : 0;
	*out = (struct channel_change){0};
	if (generation_files_read(reader->catalog, g->packed, left, &of, e) < 0)
		return -1;
	reader->read_bytes += of.bytes;
	out->is_cut = of.is_cut;
	out->file = arena_alloc_aligned(reader->text, CHANNEL_GENERATION_FILES * sizeof(*out->file));
	for (int overrides = 1; overrides >= 0; overrides--)
		for (size_t i = 0; i < of.files; i++) {
			const struct generation_file *f = &of.file[i];
			if ((f->override != NULL) != overrides || !shows_platform(reader->query->view, f->platform))
				continue;
			out->is_cut |= out->files == CHANNEL_GENERATION_FILES;
			if (out->files < CHANNEL_GENERATION_FILES)
				copy_change_file(out, f, reader->text, reader->query->sees_names);
		}
	return 0;
}

static int take_generation(void *ctx, const struct catalog_generation *g, struct err *e)
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
	to->by = reader->query->sees_names ? copy_or_empty(reader->text, g->by) : "";
	to->reason = copy_or_empty(reader->text, g->reason);
	to->packed = (struct str){0};
	if (runs->change_room < runs->generation_room) {
		runs->change_room = runs->generation_room;
		runs->change = xreallocarray(runs->change, runs->change_room, sizeof(*runs->change));
	}
	return take_change(reader, g, &runs->change[runs->generations - 1], e);
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
	struct runs_reader r = {query, out, text, c, 0};
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
	free(r->change);
	*r = (struct channel_runs){0};
}
