// SPDX-License-Identifier: Apache-2.0
// Keeps the files of the attempts (attempt-file.h) and the index, which is made of them, alike.
#include <string.h>

#include "lib/base/counted.h"
#include "lib/base/limits.h"
#include "lib/base/log.h"
#include "lib/base/strset.h"
#include "lib/format/compress.h"
#include "lib/state/database/query.h"
#include "lib/state/results/attempt-file.h"
#include "lib/state/results/results.h"
#include "lib/state/results/results-schema.h"

// --- rows ---

static int damaged_value(const struct results *r, const char *what, struct err *e)
{
	return err_set(e, ERR_DB, "results file %s is damaged: %s", r->path, what);
}

int results_read_result(struct results *r, const char *name, struct err *e)
{
	for (int i = 0; i < RESULTS_RESULT_COUNT; i++)
		if (strcmp(results_result_name[i], name) == 0)
			return i;
	return damaged_value(r, "unknown result", e);
}

// Columns are NOT NULL, but a damaged file may hold anything.
const char *results_text(struct query *q, int column)
{
	const char *text = query_text(q, column);
	return text ? text : "";
}

// The columns of ATTEMPT in results-schema.c. Strings are borrowed until the next step.
int results_read_row(struct results *r, struct query *q, struct results_attempt *a, struct err *e)
{
	*a = (struct results_attempt){
		.id = results_text(q, 0),
		.platform = results_text(q, 1),
		.python = results_text(q, 2),
		.project = results_text(q, 3),
		.version = results_text(q, 4),
		.step = results_text(q, 6),
		.why = results_text(q, 7),
		.begun = query_int(q, 8),
		.seconds = (double)query_int(q, 9) / 1000,
		.peak_memory = (uint64_t)query_int(q, 10),
		.files = results_text(q, 11),
		.sdist = results_text(q, 12),
		.awaiting = results_text(q, 13),
		.recipe = results_text(q, 14),
		.builder = results_text(q, 15),
		.provenance = results_text(q, 16),
		.has_log = query_int(q, 17) != 0,
		.is_sent = query_int(q, 18) != 0,
	};
	int result = results_read_result(r, results_text(q, 5), e);
	if (result < 0)
		return -1;
	a->result = (enum results_result)result;
	return 0;
}

static enum results_kind kind_of_result(enum results_result r)
{
	if (r == RESULTS_OK)
		return RESULTS_KIND_GOOD;
	return results_is_failure(r) ? RESULTS_KIND_FAILED : RESULTS_KIND_NONE;
}

int results_put_row(struct results *r, const struct results_attempt *a, int64_t number, struct err *e)
{
	return query_run_by(r->database, RESULTS_PUT, BY(SQL_TEXT(a->id), SQL_TEXT(a->platform), SQL_TEXT(a->python),
		SQL_TEXT(a->project), SQL_TEXT(a->version), SQL_TEXT(results_result_name[a->result]),
		SQL_INT(kind_of_result(a->result)), SQL_TEXT(a->step), SQL_TEXT(a->why), SQL_INT(a->begun),
		SQL_INT((a->seconds * 1000 + 0.5)), SQL_INT(a->peak_memory), SQL_TEXT(a->files), SQL_TEXT(a->sdist),
		SQL_TEXT(a->awaiting), SQL_TEXT(a->recipe), SQL_TEXT(a->builder), SQL_TEXT(a->provenance),
		SQL_INT(a->is_sent), SQL_INT(number)), e);
}

void results_roll_back(struct results **r)
{
	struct err ignored = ERR_INIT;
	if (*r && query_run_by((*r)->database, RESULTS_ROLLBACK, NULL, 0, &ignored) < 0)
		return; // SQLite has rolled it back
}

int results_totals(struct results *r, const char *platform, uint64_t count[RESULTS_RESULT_COUNT], struct err *e)
{
	CLEANUP(query_end) struct query *q = query_begin(r->database, RESULTS_TOTALS, e);
	int row = q ? 1 : -1;
	memset(count, 0, RESULTS_RESULT_COUNT * sizeof(*count));
	while (row > 0 && (row = query_step(q, e)) > 0) {
		if (platform && strcmp(platform, results_text(q, 0)) != 0)
			continue;
		int result = results_read_result(r, results_text(q, 1), e);
		if (result < 0)
			return -1;
		count[result] += (uint64_t)query_int(q, 2);
	}
	return row < 0 ? -1 : 0;
}

// --- files of rows ---

int results_packed_log(struct results *r, const char *id, struct buf *out, struct err *e)
{
	int64_t in_file = 0;
	CLEANUP(attempt_file_release) struct kept_attempt f = {0};
	if (query_int_by(r->database, RESULTS_LOG_SIZE, BY(SQL_TEXT(id)), &in_file, e) < 0)
		return -1;
	if (in_file > 0) {
		if (attempt_file_read(r->files, id, &f, e) < 0)
			return err_prefix(e, "build result %s: ", id);
		buf_str(out, f.packed);
		return f.packed.ptr ? 1 : 0;
	}
	CLEANUP(query_end) struct query *q = query_by(r->database, RESULTS_LOG, BY(SQL_TEXT(id)), e);
	int row = q ? query_step(q, e) : -1;
	if (row > 0)
		buf_str(out, query_bytes(q, 0));
	return row;
}

int results_note_size(struct results *r, const char *id, size_t packed, struct err *e)
{
	if (query_run_by(r->database, RESULTS_SET_SIZE, BY(SQL_TEXT(id), SQL_INT(packed)), e) < 0)
		return -1;
	return query_run_by(r->database, RESULTS_FORGET_LOG, BY(SQL_TEXT(id)), e);
}

int results_write_file(struct results *r, const char *id, struct str packed, struct err *e)
{
	struct kept_attempt f = {.packed = packed};
	CLEANUP(query_end) struct query *q = query_by(r->database, RESULTS_FIND, BY(SQL_TEXT(id)), e);
	int row = q ? query_step(q, e) : -1;
	if (row <= 0)
		return row;
	f.number = query_int(q, RESULTS_NUMBER_COLUMN);
	if (results_read_row(r, q, &f.attempt, e) < 0 || results_totals(r, f.attempt.platform, f.totals, e) < 0)
		return -1;
	return attempt_file_write(r->files, &f, e);
}

// Of an attempt that has no file yet, or whose row has changed.
int results_keep(struct results *r, const char *id, struct err *e)
{
	CLEANUP(buf_release) struct buf packed;
	buf_init(&packed, 2 * (size_t)LIMIT_RESULT_LOG);
	int has_log = results_packed_log(r, id, &packed, e);
	if (has_log < 0 || results_write_file(r, id, has_log ? buf_view(&packed) : (struct str){NULL, 0}, e) < 0)
		return -1;
	return results_note_size(r, id, packed.len, e);
}

void results_remove_files(struct results *r, const struct strset *ids)
{
	for (size_t i = 0; i < ids->count; i++) {
		struct err e = ERR_INIT;
		if (attempt_file_remove(r->files, ids->item[i], &e) < 0)
			log_warn("build result %s: its file stays: %s", ids->item[i], e.msg);
	}
}

// --- totals ---

// What the files of a platform say.
struct platform_totals {
	const char *platform;
	uint64_t count[RESULTS_RESULT_COUNT];
};

struct index_totals {
	struct results *results;
	struct arena text;
	struct platform_totals *item;
	size_t count, room;
};

static void index_totals_release(struct index_totals *s)
{
	arena_release(&s->text);
}

static void note_totals(struct index_totals *s, const struct kept_attempt *f)
{
	size_t at = 0;
	while (at < s->count && strcmp(s->item[at].platform, f->attempt.platform) != 0)
		at++;
	if (at == s->count) {
		ARENA_GROW(&s->text, s->item, s->count, s->room);
		s->item[s->count++].platform = arena_strdup(&s->text, f->attempt.platform);
	}
	for (int i = 0; i < RESULTS_RESULT_COUNT; i++)
		if (f->totals[i] > s->item[at].count[i])
			s->item[at].count[i] = f->totals[i];
}

// After all rows, which count themselves. Totals never become fewer.
static int raise_totals(const struct index_totals *s, struct err *e)
{
	for (size_t at = 0; at < s->count; at++)
		for (int i = 0; i < RESULTS_RESULT_COUNT; i++)
			if (s->item[at].count[i] &&
				query_run_by(s->results->database, RESULTS_RAISE_TOTAL,
					BY(SQL_TEXT(s->item[at].platform), SQL_TEXT(results_result_name[i]),
						SQL_INT(s->item[at].count[i])),
					e) < 0)
				return -1;
	return 0;
}

// --- a new index, and an old one ---

// A file that is damaged harms only itself.
static int take_attempt_file(void *ctx, const char *id, struct err *e)
{
	struct index_totals *s = ctx;
	struct results *r = s->results;
	struct err why = ERR_INIT;
	int64_t is_known = 0;
	CLEANUP(attempt_file_release) struct kept_attempt f = {0};
	if (query_int_by(r->database, RESULTS_HAS, BY(SQL_TEXT(id)), &is_known, e) < 0)
		return -1;
	if (is_known)
		return 0;
	if (attempt_file_read(r->files, id, &f, &why) < 0) {
		log_warn("build result %s of %s is left out: %s", id, r->files, why.msg);
		return 0;
	}
	note_totals(s, &f);
	return results_put_row(r, &f.attempt, f.number, e) < 0 ? -1 : results_note_size(r, id, f.packed.len, e);
}

static int list_rows_without_files(struct results *r, struct strset *out, struct err *e)
{
	CLEANUP(query_end) struct query *q = query_begin(r->database, RESULTS_WITHOUT_FILE, e);
	int row = q ? 1 : -1;
	while (row > 0 && (row = query_step(q, e)) > 0)
		strset_add(out, query_text(q, 0));
	return row;
}

static int keep_rows(struct results *r, struct err *e)
{
	CLEANUP(strset_release) struct strset ids = {0};
	if (list_rows_without_files(r, &ids, e) < 0)
		return -1;
	for (size_t i = 0; i < ids.count; i++)
		if (results_keep(r, ids.item[i], e) < 0)
			return -1;
	if (ids.count)
		log_info("%s of %s: now files in %s", COUNTED(ids.count, "build result|build results"), r->path,
			r->files);
	return 0;
}

int results_settle(struct results *r, struct err *e)
{
	int64_t is_settled = 0;
	if (query_int_by(r->database, RESULTS_SETTLED, NULL, 0, &is_settled, e) < 0)
		return -1;
	if (is_settled)
		return 0;
	if (query_run_by(r->database, RESULTS_BEGIN, NULL, 0, e) < 0)
		return -1;
	CLEANUP(results_roll_back) struct results *open = r;
	CLEANUP(index_totals_release) struct index_totals s = {.results = r};
	if (keep_rows(r, e) < 0 || attempt_files_each(r->files, take_attempt_file, &s, e) < 0 || raise_totals(&s, e) < 0 ||
		query_run_by(r->database, RESULTS_SET_SETTLED, NULL, 0, e) < 0 ||
		query_run_by(r->database, RESULTS_COMMIT, NULL, 0, e) < 0)
		return -1;
	open = NULL;
	return 0;
}
