// SPDX-License-Identifier: Apache-2.0
// What reads the file of build results.
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/limits.h"
#include "lib/base/mem.h"
#include "lib/format/compress.h"
#include "lib/os/clock.h"
#include "lib/state/config/config-type.h"
#include "lib/state/database/query.h"
#include "lib/state/results/results.h"
#include "lib/state/results/results-schema.h"

enum { DAY = 86400, HALF_DAY = DAY / 2 };

// --- lists ---

static bool matches_glob(const char *glob, const char *name)
{
	return !glob || fnmatch(glob, name, 0) == 0;
}

static bool filter_has_place(const struct results_filter *f, const char *platform, const char *project)
{
	if (!matches_glob(f->platform, platform) || !matches_glob(f->project, project))
		return false;
	for (size_t i = 0; f->platforms && i < f->platform_count; i++)
		if (strcmp(f->platforms[i], platform) == 0)
			return true;
	return !f->platforms;
}

static bool is_plain_name(const char *glob)
{
	return glob && !strpbrk(glob, "*?[\\");
}

// The one that reads the fewest rows.
static enum results_statement list_statement(const struct results_filter *f)
{
	return is_plain_name(f->project) ? RESULTS_LIST_PROJECT
	       : f->only_running         ? RESULTS_LIST_RUNNING
	       : f->only_unsent          ? RESULTS_LIST_UNSENT
	       : f->only_failed          ? RESULTS_LIST_FAILED
					 : RESULTS_LIST;
}

static struct query *begin_list(struct results *r, const struct results_filter *f, struct err *e)
{
	enum results_statement statement = list_statement(f);
	struct query *q = query_begin(r->database, statement, e);
	if (!q)
		return NULL;
	query_bind_int(q, 1, f->since);
	query_bind_text(q, 2, f->python);
	query_bind_text(q, 3, f->version);
	query_bind_text(q, 4, f->result);
	query_bind_int(q, 5, f->only_unsent);
	query_bind_int(q, 6, f->only_running);
	query_bind_int(q, 7, f->only_failed);
	if (statement == RESULTS_LIST_PROJECT)
		query_bind_text(q, 8, f->project);
	return q;
}

int results_list(struct results *r, const struct results_filter *filter, results_fn *fn, void *ctx, struct err *e)
{
	CLEANUP(query_end) struct query *q = begin_list(r, filter, e);
	struct results_attempt a;
	uint64_t left = filter->limit ? filter->limit : UINT64_MAX;
	int row = q ? 1 : -1;
	while (left && row > 0 && (row = query_step(q, e)) > 0) {
		if (!filter_has_place(filter, results_text(q, 1), results_text(q, 3)))
			continue;
		if (results_read_row(r, q, &a, e) < 0 || fn(ctx, &a, e) < 0)
			return -1;
		left--;
	}
	return row < 0 ? -1 : 0;
}

static int no_such_result(const char *id, struct err *e)
{
	return err_set(e, ERR_NOT_FOUND, "no build result has the id %s; wheelcache builds lists them", id);
}

int results_find_id(struct results *r, const char *digits, char out[RESULTS_ID + 1], struct err *e)
{
	CLEANUP(query_end) struct query *q = query_by(r->database, RESULTS_FIND_ID, BY(SQL_TEXT(digits)), e);
	if (!q)
		return -1;
	int row = query_step(q, e);
	if (row == 0)
		return no_such_result(digits, e);
	if (row < 0)
		return -1;
	snprintf(out, RESULTS_ID + 1, "%s", results_text(q, 0));
	row = query_step(q, e);
	if (row == 1)
		return err_set(e, ERR_USAGE, "the ids of several build results begin with %s", digits);
	return row;
}

int results_find(struct results *r, const char *id, results_fn *fn, void *ctx, struct err *e)
{
	CLEANUP(query_end) struct query *q = query_begin(r->database, RESULTS_FIND, e);
	struct results_attempt a;
	if (!q)
		return -1;
	query_bind_text(q, 1, id);
	int row = query_step(q, e);
	if (row <= 0)
		return row < 0 ? -1 : no_such_result(id, e);
	return results_read_row(r, q, &a, e) < 0 ? -1 : fn(ctx, &a, e);
}

int results_log(struct results *r, const char *id, struct buf *out, struct err *e)
{
	CLEANUP(buf_release) struct buf packed;
	buf_init(&packed, 2 * (size_t)LIMIT_RESULT_LOG);
	int has_log = results_packed_log(r, id, &packed, e);
	if (has_log <= 0)
		return has_log < 0 ? -1 : err_set(e, ERR_NOT_FOUND, "no build result with the id %s has a log", id);
	return decompress_zstd(buf_view(&packed), out, e);
}

// --- history ---

static int begin_history(struct results *r, struct query *q, struct results_history *h, struct err *e)
{
	h->last = query_int(q, 0);
	h->step = xstrdup(results_text(q, 3));
	h->why = xstrdup(results_text(q, 4));
	h->awaiting = xstrdup(results_text(q, 5));
	h->recipe = xstrdup(results_text(q, 6));
	int result = results_read_result(r, results_text(q, 2), e);
	if (result < 0)
		return -1;
	h->result = (enum results_result)result;
	return 0;
}

static bool goes_on(struct query *q, const struct results_history *h)
{
	return query_int(q, 1) == RESULTS_KIND_FAILED && strcmp(results_text(q, 6), h->recipe) == 0;
}

static int read_history(struct results *r, struct query *q, struct results_history *h, struct err *e)
{
	int row = query_step(q, e);
	if (row > 0 && begin_history(r, q, h, e) < 0)
		return -1;
	for (; row > 0 && goes_on(q, h); row = query_step(q, e)) {
		h->failures++;
		h->first_failed = query_int(q, 0);
	}
	return row < 0 ? -1 : 0;
}

int results_history(struct results *r, const char *platform, const char *python, const char *project,
	const char *version, struct results_history *out, struct err *e)
{
	CLEANUP(results_history_release) struct results_history h = {0};
	CLEANUP(query_end) struct query *q = query_by(r->database, RESULTS_HISTORY, BY(SQL_TEXT(project),
		SQL_TEXT(platform), SQL_TEXT(python), SQL_TEXT(version)), e);
	if (!q)
		return -1;
	query_bind_int(q, 5, clock_wall_seconds() + DAY); // as results_check(): a clock was wrong, and is right again
	if (read_history(r, q, &h, e) < 0)
		return -1;
	*out = h;
	h = (struct results_history){0};
	return 0;
}

void results_history_release(struct results_history *h)
{
	free(h->step);
	free(h->why);
	free(h->awaiting);
	free(h->recipe);
	*h = (struct results_history){0};
}

int64_t results_retry_time(const struct config *c, const struct results_history *h)
{
	struct str rest = str_from(c->build_retry_after ? c->build_retry_after : "");
	uint64_t pause = 0, one;
	if (!h->failures)
		return h->last;
	if (h->failures > c->build_retries)
		return 0;
	for (unsigned i = 0; i < h->failures && config_times_next(&rest, &one); i++)
		pause = one;
	// A night's run begins at the same second as that of the day before, and its rows a little later: a day is a
	// night.
	return h->last + (int64_t)(pause >= DAY ? pause - HALF_DAY : pause);
}

// --- numbers ---

struct one_day {
	int64_t day; // its number since 1970; -1: none yet
	uint64_t good, failed;
};

static int end_day(const struct one_day *one, results_day_fn *fn, void *ctx, struct err *e)
{
	return one->good + one->failed ? fn(ctx, one->day * DAY, one->good, one->failed, e) : 0;
}

int results_days(struct results *r, const struct results_filter *filter, int64_t now, unsigned days, results_day_fn *fn,
	void *ctx, struct err *e)
{
	static const struct results_filter all = {0};
	CLEANUP(query_end) struct query *q = query_begin(r->database, RESULTS_DAYS, e);
	struct one_day one = {.day = -1};
	int row = q ? 1 : -1;
	if (q)
		query_bind_int(q, 1, (now / DAY - (int64_t)days + 1) * DAY);
	while (row > 0 && (row = query_step(q, e)) > 0) {
		if (!filter_has_place(filter ? filter : &all, results_text(q, 1), results_text(q, 2)))
			continue;
		if (query_int(q, 0) != one.day && end_day(&one, fn, ctx, e) < 0)
			return -1;
		if (query_int(q, 0) != one.day)
			one = (struct one_day){.day = query_int(q, 0)};
		one.good += (uint64_t)query_int(q, 3);
		one.failed += (uint64_t)query_int(q, 4);
	}
	return row < 0 ? -1 : end_day(&one, fn, ctx, e);
}
