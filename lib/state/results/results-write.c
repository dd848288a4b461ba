// SPDX-License-Identifier: Apache-2.0
// The connection, and what writes.
#include <stdlib.h>
#include <string.h>

#include "lib/base/limits.h"
#include "lib/base/mem.h"
#include "lib/format/compress.h"
#include "lib/os/clock.h"
#include "lib/state/config/config-type.h"
#include "lib/state/database/query.h"
#include "lib/state/results/results-check.h"
#include "lib/state/results/results-connection.h"
#include "lib/state/results/results.h"

enum {
	LEVEL = 6,             // of zstd
	CLEAN_SECONDS = 86400, // between two looks through all projects
};

static enum results_kind kind_of_result(enum results_result r)
{
	if (r == RESULTS_OK)
		return RESULTS_KIND_GOOD;
	return results_is_failure(r) ? RESULTS_KIND_FAILED : RESULTS_KIND_NONE;
}

// --- the connection ---

int results_open(const char *path, struct results **out, struct err *e)
{
	CLEANUP(results_cleanup) struct results *r = xcalloc(1, sizeof(*r));
	r->path = xstrdup(path);
	if (database_open(&results_schema, path, &r->database, e) < 0)
		return -1;
	*out = STEAL_PTR(r);
	return 0;
}

int results_open_read(const char *path, struct results **out, struct err *e)
{
	CLEANUP(results_cleanup) struct results *r = xcalloc(1, sizeof(*r));
	r->path = xstrdup(path);
	if (database_open_read(&results_schema, path, &r->database, e) < 0)
		return -1;
	*out = STEAL_PTR(r);
	return 0;
}

void results_limit(struct results *r, unsigned milliseconds)
{
	database_limit(r->database, milliseconds);
}

void results_close(struct results *r)
{
	if (!r)
		return;
	database_close(r->database);
	free(r->path);
	free(r);
}

void results_cleanup(struct results **r)
{
	results_close(*r);
	*r = NULL;
}

// After a failure of the system SQLite may keep its file read-only (database_has_failed).
static int renew_connection(struct results *r, struct err *e)
{
	struct database *renewed;
	if (!database_has_failed(r->database))
		return 0;
	if (database_open(&results_schema, r->path, &renewed, e) < 0)
		return -1;
	database_close(r->database);
	r->database = renewed;
	return 0;
}

// --- one attempt ---

static const char *text_or_empty(const char *text)
{
	return text ? text : "";
}

static struct results_attempt without_null(const struct results_attempt *a)
{
	struct results_attempt out = *a;
	const char **const text[] = {&out.id, &out.platform, &out.python, &out.project, &out.version, &out.step,
		&out.why, &out.files, &out.sdist, &out.awaiting, &out.recipe, &out.builder, &out.provenance};
	for (size_t i = 0; i < ARRAY_SIZE(text); i++)
		*text[i] = text_or_empty(*text[i]);
	return out;
}

static int check_same(struct results *r, const struct results_attempt *a, struct err *e)
{
	CLEANUP(query_end) struct query *q = query_by(r->database, RESULTS_SAME, BY(SQL_TEXT(a->project),
		SQL_TEXT(a->platform), SQL_TEXT(a->python), SQL_TEXT(a->version), SQL_TEXT(a->id)), e);
	if (!q)
		return -1;
	int row = query_step(q, e);
	if (row == 1 && !query_int(q, 0))
		return err_set(e, ERR_CONFLICT, "build result %s is that of another wheel", a->id);
	return row < 0 ? -1 : 0;
}

// The kind of the newest attempt that ended, but for this id (NULL: of all); RESULTS_KIND_NONE: there is none.
static int read_state(struct results *r, const struct results_attempt *a, const char *but, int64_t *kind, struct err *e)
{
	CLEANUP(query_end) struct query *q = query_by(r->database, RESULTS_STATE, BY(SQL_TEXT(a->project),
		SQL_TEXT(a->platform), SQL_TEXT(a->python), SQL_TEXT(but)), e);
	if (!q)
		return -1;
	int row = query_step(q, e);
	*kind = row == 1 ? query_int(q, 0) : RESULTS_KIND_NONE;
	return row < 0 ? -1 : 0;
}

static int put_row(struct results *r, const struct results_attempt *a, struct err *e)
{
	return query_run_by(r->database, RESULTS_PUT, BY(SQL_TEXT(a->id), SQL_TEXT(a->platform), SQL_TEXT(a->python),
		SQL_TEXT(a->project), SQL_TEXT(a->version), SQL_TEXT(results_result_name[a->result]),
		SQL_INT(kind_of_result(a->result)), SQL_TEXT(a->step), SQL_TEXT(a->why), SQL_INT(a->begun),
		SQL_INT((a->seconds * 1000)), SQL_INT(a->peak_memory), SQL_TEXT(a->files), SQL_TEXT(a->sdist),
		SQL_TEXT(a->awaiting), SQL_TEXT(a->recipe), SQL_TEXT(a->builder), SQL_TEXT(a->provenance),
		SQL_INT(a->is_sent)), e);
}

static int put_log(struct results *r, const char *id, struct str packed, struct err *e)
{
	return query_run_by(r->database, RESULTS_PUT_LOG, BY(SQL_TEXT(id), SQL_STR(packed)), e);
}

// --- what is kept ---

struct keep_limits {
	int64_t oldest;
	uint64_t number;
};

static int remove_of_cell(struct results *r, const struct results_attempt *a, const struct keep_limits *keep,
	struct err *e)
{
	return query_run_by(r->database, RESULTS_KEEP, BY(SQL_INT(keep->oldest), SQL_INT(keep->number),
		SQL_TEXT(a->project), SQL_TEXT(a->platform), SQL_TEXT(a->python)), e);
}

static int read_number(struct results *r, enum results_statement id, int64_t *out, struct err *e)
{
	CLEANUP(query_end) struct query *q = query_begin(r->database, id, e);
	if (!q || query_step(q, e) < 0)
		return -1;
	*out = query_int(q, 0);
	return 0;
}

static int remove_everywhere(struct results *r, const struct keep_limits *keep, int64_t now, struct err *e)
{
	if (query_run_by(r->database, RESULTS_CLEAN, BY(SQL_INT(keep->oldest), SQL_INT(keep->number)), e) < 0)
		return -1;
	return query_run_by(r->database, RESULTS_SET_CLEANED, BY(SQL_INT(now)), e);
}

// Projects that nothing builds any more are looked through once a day, and when the file is full.
static int remove_old(struct results *r, const struct results_attempt *a, const struct keep_limits *keep, int64_t now,
	struct err *e)
{
	int64_t cleaned = 0, size = 0;
	if (remove_of_cell(r, a, keep, e) < 0 || read_number(r, RESULTS_CLEANED, &cleaned, e) < 0 ||
		read_number(r, RESULTS_SIZE, &size, e) < 0)
		return -1;
	if (size <= LIMIT_RESULTS && now - cleaned < CLEAN_SECONDS && cleaned <= now)
		return 0;
	if (remove_everywhere(r, keep, now, e) < 0 || read_number(r, RESULTS_SIZE, &size, e) < 0)
		return -1;
	if (size <= LIMIT_RESULTS)
		return 0;
	return err_set(e, ERR_FULL,
		"results file %s has its maximum size of %d MiB: lower [build] keep-results or log-size", r->path,
		LIMIT_RESULTS >> 20);
}

static int read_keep(const char *text, int64_t now, struct keep_limits *out, struct err *e)
{
	uint64_t seconds;
	if (!config_keep_read(text ? text : "90d 50", &seconds, &out->number))
		return err_set(e, ERR_USAGE, "keep-results: %s is not a time and a number", text);
	out->oldest = now - (int64_t)seconds;
	return 0;
}

// --- all in one transaction ---

static void roll_back(struct results **r)
{
	struct err ignored = ERR_INIT;
	if (*r && query_run_by((*r)->database, RESULTS_ROLLBACK, NULL, 0, &ignored) < 0)
		return; // SQLite has rolled it back
}

static enum results_change change_of(int64_t before, int64_t now)
{
	if (now == before || now == RESULTS_KIND_NONE)
		return RESULTS_UNCHANGED;
	if (now == RESULTS_KIND_FAILED)
		return RESULTS_NOW_FAILS;
	return before == RESULTS_KIND_FAILED ? RESULTS_NOW_GOOD : RESULTS_UNCHANGED;
}

static int put_whole(struct results *r, const struct results_attempt *a, const struct str *packed,
	const struct keep_limits *keep, int64_t now, enum results_change *change, struct err *e)
{
	int64_t before, after;
	if (query_run_by(r->database, RESULTS_BEGIN, NULL, 0, e) < 0)
		return -1;
	CLEANUP(roll_back) struct results *open = r;
	if (check_same(r, a, e) < 0 || read_state(r, a, NULL, &before, e) < 0 || put_row(r, a, e) < 0)
		return -1;
	if (packed && put_log(r, a->id, *packed, e) < 0)
		return -1;
	if (read_state(r, a, NULL, &after, e) < 0 || remove_old(r, a, keep, now, e) < 0 ||
		query_run_by(r->database, RESULTS_COMMIT, NULL, 0, e) < 0)
		return -1;
	open = NULL;
	*change = change_of(before, after);
	return 0;
}

int results_put(struct results *r, const struct results_attempt *a, struct str log, const char *keep,
	enum results_change *change, struct err *e)
{
	int64_t now = clock_wall_seconds();
	struct results_attempt whole = without_null(a);
	struct keep_limits limits;
	CLEANUP(buf_release) struct buf packed;
	buf_init(&packed, 2 * (size_t)LIMIT_RESULT_LOG);
	if (results_check(&whole, now, e) < 0 || read_keep(keep, now, &limits, e) < 0)
		return -1;
	if (log.len > LIMIT_RESULT_LOG)
		return err_set(e, ERR_INVALID, "build result: the log is larger than %d MiB", LIMIT_RESULT_LOG >> 20);
	if (log.ptr && compress_zstd(log, LEVEL, &packed, e) < 0)
		return -1;
	if (renew_connection(r, e) < 0)
		return -1;
	struct str bytes = buf_view(&packed);
	return put_whole(r, &whole, log.ptr ? &bytes : NULL, &limits, now, change, e);
}

int results_change(struct results *r, const struct results_attempt *a, enum results_change *change, struct err *e)
{
	int64_t before, after;
	if (read_state(r, a, a->id, &before, e) < 0 || read_state(r, a, NULL, &after, e) < 0)
		return -1;
	*change = change_of(before, after);
	return 0;
}

int results_mark_sent(struct results *r, const char *id, struct err *e)
{
	if (renew_connection(r, e) < 0)
		return -1;
	CLEANUP(query_end) struct query *q = query_by(r->database, RESULTS_SENT, BY(SQL_TEXT(id)), e);
	if (!q)
		return -1;
	int row = query_step(q, e);
	if (row == 0)
		return err_set(e, ERR_NOT_FOUND, "no build result has the id %s", id);
	return row < 0 ? -1 : query_run(q, e);
}
