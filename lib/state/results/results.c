// SPDX-License-Identifier: Apache-2.0
// The connection, and what writes. results-read.c has what reads.
#include "lib/state/results/results.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/limits.h"
#include "lib/base/mem.h"
#include "lib/base/strset.h"
#include "lib/format/compress.h"
#include "lib/os/clock.h"
#include "lib/state/config/config-type.h"
#include "lib/state/config/state-files.h"
#include "lib/state/database/query.h"
#include "lib/state/results/results-schema.h"

// --- SQL ---

static const char *const schema_step[] = {
	"CREATE TABLE attempt ("
	"  id INTEGER PRIMARY KEY,"
	"  key TEXT NOT NULL UNIQUE,        -- the id that all machines know\n"
	"  platform TEXT NOT NULL,"
	"  python TEXT NOT NULL,"
	"  project TEXT NOT NULL,           -- normalised\n"
	"  version TEXT NOT NULL,"
	"  result TEXT NOT NULL,"
	"  kind INTEGER NOT NULL,           -- 0 running or interrupted, 1 good, 2 a failure\n"
	"  step TEXT NOT NULL,"
	"  why TEXT NOT NULL,"
	"  begun INTEGER NOT NULL,          -- seconds since 1970\n"
	"  milliseconds INTEGER NOT NULL,   -- that it took\n"
	"  peak_memory INTEGER NOT NULL,    -- bytes; 0: unknown\n"
	"  files TEXT NOT NULL,"
	"  sdist TEXT NOT NULL,"
	"  awaiting TEXT NOT NULL,"
	"  recipe TEXT NOT NULL,"
	"  builder TEXT NOT NULL,"
	"  provenance TEXT NOT NULL,        -- a JSON object\n"
	"  sent INTEGER NOT NULL"
	") STRICT;"
	"CREATE INDEX attempt_cell ON attempt (project, platform, python, begun, kind);"
	"CREATE INDEX attempt_begun ON attempt (begun);"
	"CREATE INDEX attempt_failed ON attempt (begun) WHERE kind = 2;"
	"CREATE INDEX attempt_running ON attempt (begun) WHERE result = 'running';"
	"CREATE INDEX attempt_day ON attempt (begun, platform, project, kind) WHERE kind <> 0;"
	"CREATE INDEX attempt_unsent ON attempt (begun) WHERE sent = 0;"

	"CREATE TABLE log ("
	"  attempt INTEGER PRIMARY KEY REFERENCES attempt ON DELETE CASCADE,"
	"  packed BLOB NOT NULL             -- a zstd frame\n"
	") STRICT;"

	"CREATE TABLE total ("
	"  platform TEXT NOT NULL,"
	"  result TEXT NOT NULL,"
	"  attempts INTEGER NOT NULL,       -- that came to this result, also those that were removed since\n"
	"  PRIMARY KEY (platform, result)"
	") STRICT, WITHOUT ROWID;"
	"CREATE TRIGGER attempt_added AFTER INSERT ON attempt BEGIN"
	"  INSERT INTO total VALUES (new.platform, new.result, 1)"
	"  ON CONFLICT (platform, result) DO UPDATE SET attempts = attempts + 1;"
	"END;"
	"CREATE TRIGGER attempt_ended AFTER UPDATE OF result ON attempt WHEN new.result <> old.result BEGIN"
	"  INSERT INTO total VALUES (new.platform, new.result, 1)"
	"  ON CONFLICT (platform, result) DO UPDATE SET attempts = attempts + 1;"
	"END;"

	"CREATE TABLE state ("
	"  id INTEGER PRIMARY KEY CHECK (id = 1),"
	"  cleaned INTEGER NOT NULL         -- when the attempts of all projects were last looked through\n"
	") STRICT;"
	"INSERT INTO state VALUES (1, 0);",

	// 2: attempts are in files (attempt-file.h), and these tables are made of them. The log of a row without a file
	// is still in its table.
	"ALTER TABLE attempt ADD COLUMN packed INTEGER NOT NULL DEFAULT -1; -- bytes of its log in its file; -1: no file\n"
	"ALTER TABLE state ADD COLUMN settled INTEGER NOT NULL DEFAULT 0;   -- 1: all rows and files were compared once\n"
	"ALTER TABLE state ADD COLUMN bytes INTEGER NOT NULL DEFAULT 0;     -- of logs in files\n"
	"CREATE TRIGGER attempt_packed AFTER UPDATE OF packed ON attempt BEGIN"
	"  UPDATE state SET bytes = bytes + max(new.packed, 0) - max(old.packed, 0);"
	"END;"
	"CREATE TRIGGER attempt_removed AFTER DELETE ON attempt BEGIN"
	"  UPDATE state SET bytes = bytes - max(old.packed, 0);"
	"END;",
};

#define ATTEMPT                                                                                                        \
	"SELECT a.key, a.platform, a.python, a.project, a.version, a.result, a.step, a.why, a.begun, a.milliseconds,"  \
	" a.peak_memory, a.files, a.sdist, a.awaiting, a.recipe, a.builder, a.provenance,"                             \
	" a.packed > 0 OR EXISTS (SELECT 1 FROM log WHERE attempt = a.id), a.sent, a.id FROM attempt a"

// The attempts of one platform, Python and project.
#define OF_CELL "project = ?1 AND platform = ?2 AND python = ?3"
#define NEWEST_FIRST " ORDER BY begun DESC, id DESC"

// The newest attempt that ended, of its platform, Python and project.
#define IS_NEWEST                                                                                                      \
	"NOT EXISTS (SELECT 1 FROM attempt n WHERE n.project = a.project AND n.platform = a.platform"                  \
	" AND n.python = a.python AND n.kind <> 0 AND n.begun >= a.begun AND (n.begun, n.id) > (a.begun, a.id))"

#define FILTER                                                                                                         \
	" begun >= ?1 AND (?2 IS NULL OR python = ?2) AND (?3 IS NULL OR version = ?3)"                                \
	" AND (?4 IS NULL OR result = ?4) AND (?5 = 0 OR sent = 0) AND (?6 = 0 OR result = 'running')"                 \
	" AND (?7 = 0 OR kind = 2 AND " IS_NEWEST ")"

// ?1 is the age and ?2 the number that remain; the last good and the last failed attempt remain always. A row that is
// neither has no place of its own.
#define REMOVE(condition)                                                                                              \
	"DELETE FROM attempt WHERE id IN (SELECT id FROM (SELECT id, begun, kind,"                                     \
	" row_number() OVER (PARTITION BY project, platform, python ORDER BY begun DESC, id DESC) AS place,"           \
	" row_number() OVER (PARTITION BY project, platform, python, kind ORDER BY begun DESC, id DESC) AS of_kind"    \
	" FROM attempt" condition ") WHERE (begun < ?1 OR place > ?2) AND (kind = 0 OR of_kind > 1)) RETURNING key"

static const char *const statement_sql[RESULTS_STATEMENT_COUNT] = {
	[RESULTS_BEGIN] = "BEGIN IMMEDIATE",
	[RESULTS_COMMIT] = "COMMIT",
	[RESULTS_ROLLBACK] = "ROLLBACK",
	[RESULTS_SAME] = "SELECT project = ?1 AND platform = ?2 AND python = ?3 AND version = ?4 FROM attempt"
			 " WHERE key = ?5",
	[RESULTS_STATE] =
		"SELECT kind FROM attempt WHERE " OF_CELL " AND kind <> 0 AND key IS NOT ?4" NEWEST_FIRST " LIMIT 1",
	[RESULTS_PUT] =
		"INSERT INTO attempt (id, key, platform, python, project, version, result, kind, step, why, begun,"
		" milliseconds, peak_memory, files, sdist, awaiting, recipe, builder, provenance, sent)"
		" VALUES ((SELECT ?20 WHERE ?20 > 0 AND NOT EXISTS (SELECT 1 FROM attempt WHERE id = ?20)),"
		" ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19)"
		" ON CONFLICT (key) DO UPDATE SET result = ?6, kind = ?7, step = ?8, why = ?9, begun = ?10,"
		" milliseconds = ?11, peak_memory = ?12, files = ?13, sdist = ?14, awaiting = ?15, recipe = ?16,"
		" builder = ?17, provenance = ?18, sent = ?19",
	[RESULTS_SENT] = "UPDATE attempt SET sent = 1 WHERE key = ?1 RETURNING id",
	[RESULTS_KEEP] = REMOVE(" WHERE project = ?3 AND platform = ?4 AND python = ?5"),
	[RESULTS_CLEANED] = "SELECT cleaned FROM state",
	[RESULTS_CLEAN] = REMOVE(""),
	[RESULTS_SET_CLEANED] = "UPDATE state SET cleaned = ?1",
	[RESULTS_SIZE] = "SELECT (p.page_count - f.freelist_count) * s.page_size + t.bytes"
			 " FROM pragma_page_count p, pragma_freelist_count f, pragma_page_size s, state t",
	[RESULTS_LIST] = ATTEMPT " WHERE" FILTER NEWEST_FIRST,
	// Each has the condition of a partial index: such an index is not used for a parameter.
	[RESULTS_LIST_FAILED] = ATTEMPT " WHERE kind = 2 AND" FILTER NEWEST_FIRST,
	[RESULTS_LIST_RUNNING] = ATTEMPT " WHERE result = 'running' AND" FILTER NEWEST_FIRST,
	[RESULTS_LIST_UNSENT] = ATTEMPT " WHERE sent = 0 AND" FILTER NEWEST_FIRST,
	[RESULTS_LIST_PROJECT] = ATTEMPT " WHERE project = ?8 AND" FILTER NEWEST_FIRST,
	[RESULTS_FIND] = ATTEMPT " WHERE key = ?1",
	[RESULTS_FIND_ID] = "SELECT key FROM attempt WHERE key >= ?1 AND key < ?1 || 'g' LIMIT 2",
	[RESULTS_LOG] = "SELECT log.packed FROM log JOIN attempt a ON a.id = attempt WHERE a.key = ?1",
	[RESULTS_HISTORY] = "SELECT begun, kind, result, step, why, awaiting, recipe FROM attempt WHERE " OF_CELL
			    " AND version = ?4 AND kind <> 0 AND begun <= ?5" NEWEST_FIRST,
	[RESULTS_DAYS] = "SELECT begun / 86400, platform, project, sum(kind = 1), sum(kind = 2) FROM attempt"
			 " WHERE begun >= ?1 AND kind <> 0 GROUP BY 1, 2, 3 ORDER BY 1",
	[RESULTS_TOTALS] = "SELECT platform, result, attempts FROM total ORDER BY platform, result",
	[RESULTS_RAISE_TOTAL] = "INSERT INTO total VALUES (?1, ?2, ?3)"
				" ON CONFLICT (platform, result) DO UPDATE SET attempts = max(attempts, ?3)",
	[RESULTS_HAS] = "SELECT 1 FROM attempt WHERE key = ?1",
	[RESULTS_WITHOUT_FILE] = "SELECT key FROM attempt WHERE packed < 0",
	[RESULTS_LOG_SIZE] = "SELECT packed FROM attempt WHERE key = ?1",
	[RESULTS_SET_SIZE] = "UPDATE attempt SET packed = ?2 WHERE key = ?1",
	[RESULTS_FORGET_LOG] = "DELETE FROM log WHERE attempt = (SELECT id FROM attempt WHERE key = ?1)",
	[RESULTS_SETTLED] = "SELECT settled FROM state",
	[RESULTS_SET_SETTLED] = "UPDATE state SET settled = 1",
};

// A power failure loses no result that was reported as stored: FULL. The catalog, which a scan makes again, uses
// NORMAL.
const struct database_kind results_schema = {
	.name = "results file",
	.advice = "move it away, with the files of its name and -wal and -shm, and it is made again of the attempts beside it",
	.older = "wheelcache build or the server",
	.application_id = 0x77627264, // "wbrd"
	.schema_step = schema_step,
	.schema_steps = ARRAY_SIZE(schema_step),
	.connection = "PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON; PRAGMA cache_size = -1024;",
	.statement = statement_sql,
	.statements = RESULTS_STATEMENT_COUNT,
	.tells_full = true,
	.empty_is_absent = true,
};

// --- writing ---

// The connection, and what writes.
enum {
	LEVEL = 6,             // of zstd
	CLEAN_SECONDS = 86400, // between two looks through all projects
};

// --- the connection ---

static struct results *new_results(const char *path, const char *files)
{
	struct results *r = xcalloc(1, sizeof(*r));
	r->path = xstrdup(path);
	r->files = files ? xstrdup(files) : xasprintf("%s.attempts", path);
	return r;
}

int results_open(const char *path, const char *files, struct results **out, struct err *e)
{
	CLEANUP(results_cleanup) struct results *r = new_results(path, files);
	if (database_open(&results_schema, path, &r->database, e) < 0 || results_settle(r, e) < 0)
		return -1;
	*out = STEAL_PTR(r);
	return 0;
}

int results_open_read(const char *path, const char *files, struct results **out, struct err *e)
{
	int64_t is_settled = 0;
	CLEANUP(results_cleanup) struct results *r = new_results(path, files);
	struct err why = ERR_INIT;
	int opened = database_open_read(&results_schema, path, &r->database, &why);
	if (opened == 0 && query_int_by(r->database, RESULTS_SETTLED, NULL, 0, &is_settled, e) < 0)
		return -1;
	if (!is_settled && access(r->files, F_OK) == 0) // it is missing, or its maker was killed
		return results_open(path, files, out, e);
	if (opened < 0) {
		*e = why;
		return -1;
	}
	*out = STEAL_PTR(r);
	return 0;
}

int results_open_of(const struct config *c, const char *catalog_path, bool writes, struct results **out, struct err *e)
{
	struct err why = ERR_INIT;
	CLEANUP(mem_free) char *path = state_file(c, catalog_path, STATE_FILE_BUILDS);
	CLEANUP(mem_free) char *attempts = state_file(c, catalog_path, STATE_FILE_ATTEMPTS);
	*out = NULL;
	if (writes)
		return results_open(path, attempts, out, e);
	return results_open_read(path, attempts, out, &why) == 0 ? 0 : err_unless_missing(e, &why);
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
	free(r->files);
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
	int row = query_step(q, e);
	*kind = row == 1 ? query_int(q, 0) : RESULTS_KIND_NONE;
	return row < 0 ? -1 : 0;
}

// --- what is kept ---

struct keep_limits {
	int64_t oldest;
	uint64_t number;
};

// Adds the ids of the rows that it removes.
static int remove_by(struct query *q, struct strset *removed, struct err *e)
{
	CLEANUP(query_end) struct query *open = q;
	int row = q ? 1 : -1;
	while (row > 0 && (row = query_step(open, e)) > 0)
		strset_add(removed, query_text(open, 0));
	return row;
}

static int remove_of_cell(struct results *r, const struct results_attempt *a, const struct keep_limits *keep,
	struct strset *removed, struct err *e)
{
	return remove_by(query_by(r->database, RESULTS_KEEP, BY(SQL_INT(keep->oldest), SQL_INT(keep->number),
		SQL_TEXT(a->project), SQL_TEXT(a->platform), SQL_TEXT(a->python)), e), removed, e);
}

static int read_number(struct results *r, enum results_statement id, int64_t *out, struct err *e)
{
	CLEANUP(query_end) struct query *q = query_begin(r->database, id, e);
	if (query_step(q, e) < 0)
		return -1;
	*out = query_int(q, 0);
	return 0;
}

static int remove_everywhere(struct results *r, const struct keep_limits *keep, int64_t now, struct strset *removed,
	struct err *e)
{
	if (remove_by(query_by(r->database, RESULTS_CLEAN, BY(SQL_INT(keep->oldest), SQL_INT(keep->number)), e), removed,
		    e) < 0)
		return -1;
	return query_run_by(r->database, RESULTS_SET_CLEANED, BY(SQL_INT(now)), e);
}

// Projects that nothing builds any more are looked through once a day, and when the file is full.
static int remove_old(struct results *r, const struct results_attempt *a, const struct keep_limits *keep, int64_t now,
	struct strset *removed, struct err *e)
{
	int64_t cleaned = 0, size = 0;
	if (remove_of_cell(r, a, keep, removed, e) < 0 || read_number(r, RESULTS_CLEANED, &cleaned, e) < 0 ||
		read_number(r, RESULTS_SIZE, &size, e) < 0)
		return -1;
	if (size <= LIMIT_RESULTS && now - cleaned < CLEAN_SECONDS && cleaned <= now)
		return 0;
	if (remove_everywhere(r, keep, now, removed, e) < 0 || read_number(r, RESULTS_SIZE, &size, e) < 0)
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
	CLEANUP(strset_release) struct strset removed = {0};
	if (query_run_by(r->database, RESULTS_BEGIN, NULL, 0, e) < 0)
		return -1;
	CLEANUP(results_roll_back) struct results *open = r;
	if (check_same(r, a, e) < 0 || read_state(r, a, NULL, &before, e) < 0 || results_put_row(r, a, 0, e) < 0 ||
		(packed && results_note_size(r, a->id, packed->len, e) < 0) ||
		read_state(r, a, NULL, &after, e) < 0 || remove_old(r, a, keep, now, &removed, e) < 0)
		return -1;
	if ((packed ? results_write_file(r, a->id, *packed, e) : results_keep(r, a->id, e)) < 0 ||
		query_run_by(r->database, RESULTS_COMMIT, NULL, 0, e) < 0)
		return -1;
	open = NULL;
	results_remove_files(r, &removed);
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

static int note_sent(struct results *r, const char *id, struct err *e)
{
	CLEANUP(query_end) struct query *q = query_by(r->database, RESULTS_SENT, BY(SQL_TEXT(id)), e);
	int row = query_step(q, e);
	if (row == 0)
		return err_set(e, ERR_NOT_FOUND, "no build result has the id %s", id);
	return row < 0 ? -1 : query_run(q, e);
}

int results_mark_sent(struct results *r, const char *id, struct err *e)
{
	if (renew_connection(r, e) < 0)
		return -1;
	if (query_run_by(r->database, RESULTS_BEGIN, NULL, 0, e) < 0)
		return -1;
	CLEANUP(results_roll_back) struct results *open = r;
	if (note_sent(r, id, e) < 0 || results_keep(r, id, e) < 0 ||
		query_run_by(r->database, RESULTS_COMMIT, NULL, 0, e) < 0)
		return -1;
	open = NULL;
	return 0;
}
