// SPDX-License-Identifier: Apache-2.0
#include "server/pages/builds-data.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/limits.h"

enum { DAY_SECONDS = 86400 };

struct builds_reader {
	const struct builds_query *query;
	struct builds_data *data;
};

static const char *copy_text(struct arena *text, const char *s)
{
	return arena_copy(text, str_from(s ? s : ""));
}

struct results_attempt builds_data_copy(struct arena *text, const struct results_attempt *a)
{
	struct results_attempt copy = *a;
	const char **const member[] = {&copy.id, &copy.platform, &copy.python, &copy.project, &copy.version, &copy.step,
		&copy.why, &copy.files, &copy.sdist, &copy.awaiting, &copy.recipe, &copy.builder, &copy.provenance};
	if (a->result == RESULTS_RUNNING)
		copy.provenance = "{}"; // it names a folder of this machine
	for (size_t i = 0; i < ARRAY_SIZE(member); i++)
		*member[i] = copy_text(text, *member[i]);
	return copy;
}

// Whether one more attempt may be copied.
static bool is_within_limits(struct builds_reader *r, size_t count)
{
	if (count < r->query->limit && r->data->text.total < LIMIT_BUILDS_TEXT)
		return true;
	r->data->has_more = true;
	return false;
}

static int take_failure(void *ctx, const struct results_attempt *a, struct err *e UNUSED)
{
	struct builds_reader *r = ctx;
	struct builds_data *d = r->data;
	if (!is_within_limits(r, d->failures))
		return 0;
	GROW(d->failure, d->failures, d->failure_room);
	d->failure[d->failures++] =
		(struct builds_failure){.attempt = builds_data_copy(&d->text, a), .since = a->begun, .count = 1};
	return 0;
}

static int take_attempt(void *ctx, const struct results_attempt *a, struct err *e UNUSED)
{
	struct builds_reader *r = ctx;
	struct builds_data *d = r->data;
	if (!is_within_limits(r, d->attempts))
		return 0;
	GROW(d->attempt, d->attempts, d->attempt_room);
	d->attempt[d->attempts++] = builds_data_copy(&d->text, a);
	return 0;
}

static int count_running(void *ctx, const struct results_attempt *a UNUSED, struct err *e UNUSED)
{
	struct builds_reader *r = ctx;
	r->data->running++;
	return 0;
}

static int take_day(void *ctx, int64_t day, uint64_t good, uint64_t failed, struct err *e UNUSED)
{
	struct builds_data *d = ((struct builds_reader *)ctx)->data;
	int64_t number = (day - d->day[0].day) / DAY_SECONDS;
	if (day < d->day[0].day || number >= BUILDS_DAYS)
		return 0;
	d->day[number].good += good;
	d->day[number].failed += failed;
	return 0;
}

// Since when it fails. The failures of other versions and recipes do not count.
static int read_since(struct results *results, struct builds_failure *f, struct err *e)
{
	struct results_history history = {0};
	const struct results_attempt *a = &f->attempt;
	if (results_history(results, a->platform, a->python, a->project, a->version, &history, e) < 0)
		return -1;
	if (history.failures) {
		f->since = history.first_failed;
		f->count = history.failures;
	}
	results_history_release(&history);
	return 0;
}

static const char *or_null(const char *text)
{
	return text && *text ? text : NULL;
}

static struct results_filter filter_of(const struct builds_query *q)
{
	return (struct results_filter){
		.platforms = q->platforms,
		.platform_count = q->platform_count,
		.platform = or_null(q->platform),
		.project = or_null(q->project),
		.limit = q->limit + 1,
	};
}

// What fails now, since when, what runs, and the trend.
static int read_summary(struct results *results, struct builds_reader *r, struct err *e)
{
	struct results_filter failed = filter_of(r->query), running = filter_of(r->query);
	struct results_filter all = filter_of(r->query);
	failed.only_failed = true;
	running.only_running = true;
	if (results_list(results, &failed, take_failure, r, e) < 0 ||
		results_list(results, &running, count_running, r, e) < 0 ||
		results_days(results, &all, r->query->now, BUILDS_DAYS, take_day, r, e) < 0)
		return -1;
	for (size_t i = 0; i < r->data->failures; i++)
		if (read_since(results, &r->data->failure[i], e) < 0)
			return -1;
	return 0;
}

int builds_data_read(struct results *results, const struct builds_query *query, struct builds_data *out, struct err *e)
{
	*out = (struct builds_data){0};
	int64_t today = query->now - query->now % DAY_SECONDS;
	for (int i = 0; i < BUILDS_DAYS; i++)
		out->day[i].day = today - (int64_t)(BUILDS_DAYS - 1 - i) * DAY_SECONDS;
	struct builds_reader r = {query, out};
	struct results_filter filter = filter_of(query);
	filter.result = or_null(query->result);
	if (!results || ((query->only_attempts || read_summary(results, &r, e) == 0) &&
				results_list(results, &filter, take_attempt, &r, e) == 0))
		return 0;
	builds_data_release(out);
	return -1;
}

void builds_data_release(struct builds_data *d)
{
	arena_release(&d->text);
	free(d->failure);
	free(d->attempt);
	*d = (struct builds_data){0};
}
