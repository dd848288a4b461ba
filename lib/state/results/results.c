// SPDX-License-Identifier: Apache-2.0
// Names, ids, the connection, and what writes. results-read.c has what reads.
#include "lib/state/results/results.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "lib/base/decimal.h"
#include "lib/base/limits.h"
#include "lib/base/mem.h"
#include "lib/domain/machine/environment.h"
#include "lib/domain/machine/platform.h"
#include "lib/domain/text/name.h"
#include "lib/domain/text/version.h"
#include "lib/format/compress.h"
#include "lib/format/digest.h"
#include "lib/format/jsondoc.h"
#include "lib/os/clock.h"
#include "lib/state/config/config-type.h"
#include "lib/state/database/query.h"
#include "lib/state/results/results-schema.h"

const char *const results_result_name[RESULTS_RESULT_COUNT] = {
	[RESULTS_RUNNING] = "running",
	[RESULTS_OK] = "ok",
	[RESULTS_FAILED] = "failed",
	[RESULTS_TIMED_OUT] = "timed-out",
	[RESULTS_REPAIR_FAILED] = "repair-failed",
	[RESULTS_TEST_FAILED] = "test-failed",
	[RESULTS_REFUSED] = "refused",
	[RESULTS_CRASHED] = "crashed",
	[RESULTS_INTERRUPTED] = "interrupted",
	[RESULTS_WAITING] = "waiting",
};

bool results_is_failure(enum results_result r)
{
	return r != RESULTS_RUNNING && r != RESULTS_OK && r != RESULTS_INTERRUPTED && r != RESULTS_WAITING;
}

void results_new_id(char out[RESULTS_ID + 1])
{
	static const char digit[] = "0123456789abcdef";
	unsigned char random[RESULTS_ID / 2];
	if (getrandom(random, sizeof(random), 0) != (ssize_t)sizeof(random))
		abort(); // so few bytes are never cut short once the system has started (getrandom(2))
	for (size_t i = 0; i < RESULTS_ID; i++)
		out[i] = digit[(random[i / 2] >> (i % 2 ? 0 : 4)) & 0xf];
	out[RESULTS_ID] = '\0';
}

void results_one_line(struct str text, struct buf *out)
{
	CLEANUP(mem_free) char *line = xstrndup(text.ptr ? text.ptr : "", text.len);
	bool is_good = str_is_utf8(text);
	for (size_t i = 0; i < text.len; i++)
		if ((unsigned char)line[i] < ' ' || line[i] == 0x7f)
			line[i] = ' ';
		else if (!is_good && (line[i] & 0x80))
			line[i] = '?';
	buf_str(out, str_head(str_trim((struct str){line, text.len}), LIMIT_REASON));
}

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
};

#define ATTEMPT                                                                                                        \
	"SELECT a.key, a.platform, a.python, a.project, a.version, a.result, a.step, a.why, a.begun, a.milliseconds,"  \
	" a.peak_memory, a.files, a.sdist, a.awaiting, a.recipe, a.builder, a.provenance,"                             \
	" EXISTS (SELECT 1 FROM log WHERE attempt = a.id), a.sent FROM attempt a"

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
	" FROM attempt" condition ") WHERE (begun < ?1 OR place > ?2) AND (kind = 0 OR of_kind > 1))"

static const char *const statement_sql[RESULTS_STATEMENT_COUNT] = {
	[RESULTS_BEGIN] = "BEGIN IMMEDIATE",
	[RESULTS_COMMIT] = "COMMIT",
	[RESULTS_ROLLBACK] = "ROLLBACK",
	[RESULTS_SAME] = "SELECT project = ?1 AND platform = ?2 AND python = ?3 AND version = ?4 FROM attempt"
			 " WHERE key = ?5",
	[RESULTS_STATE] =
		"SELECT kind FROM attempt WHERE " OF_CELL " AND kind <> 0 AND key IS NOT ?4" NEWEST_FIRST " LIMIT 1",
	[RESULTS_PUT] =
		"INSERT INTO attempt (key, platform, python, project, version, result, kind, step, why, begun,"
		" milliseconds, peak_memory, files, sdist, awaiting, recipe, builder, provenance, sent)"
		" VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19)"
		" ON CONFLICT (key) DO UPDATE SET result = ?6, kind = ?7, step = ?8, why = ?9, begun = ?10,"
		" milliseconds = ?11, peak_memory = ?12, files = ?13, sdist = ?14, awaiting = ?15, recipe = ?16,"
		" builder = ?17, provenance = ?18, sent = ?19",
	[RESULTS_PUT_LOG] = "INSERT INTO log SELECT id, ?2 FROM attempt WHERE key = ?1"
			    " ON CONFLICT (attempt) DO UPDATE SET packed = ?2",
	[RESULTS_SENT] = "UPDATE attempt SET sent = 1 WHERE key = ?1 RETURNING id",
	[RESULTS_KEEP] = REMOVE(" WHERE project = ?3 AND platform = ?4 AND python = ?5"),
	[RESULTS_CLEANED] = "SELECT cleaned FROM state",
	[RESULTS_CLEAN] = REMOVE(""),
	[RESULTS_SET_CLEANED] = "UPDATE state SET cleaned = ?1",
	[RESULTS_SIZE] = "SELECT (p.page_count - f.freelist_count) * s.page_size"
			 " FROM pragma_page_count p, pragma_freelist_count f, pragma_page_size s",
	[RESULTS_LIST] = ATTEMPT " WHERE" FILTER NEWEST_FIRST,
	// Each has the condition of a partial index: such an index is not used for a parameter.
	[RESULTS_LIST_FAILED] = ATTEMPT " WHERE kind = 2 AND" FILTER NEWEST_FIRST,
	[RESULTS_LIST_RUNNING] = ATTEMPT " WHERE result = 'running' AND" FILTER NEWEST_FIRST,
	[RESULTS_LIST_UNSENT] = ATTEMPT " WHERE sent = 0 AND" FILTER NEWEST_FIRST,
	[RESULTS_LIST_PROJECT] = ATTEMPT " WHERE project = ?8 AND" FILTER NEWEST_FIRST,
	[RESULTS_FIND] = ATTEMPT " WHERE key = ?1",
	[RESULTS_FIND_ID] = "SELECT key FROM attempt WHERE key >= ?1 AND key < ?1 || 'g' LIMIT 2",
	[RESULTS_LOG] = "SELECT packed FROM log JOIN attempt a ON a.id = attempt WHERE a.key = ?1",
	[RESULTS_HISTORY] = "SELECT begun, kind, result, step, why, awaiting, recipe FROM attempt WHERE " OF_CELL
			    " AND version = ?4 AND kind <> 0 AND begun <= ?5" NEWEST_FIRST,
	[RESULTS_DAYS] = "SELECT begun / 86400, platform, project, sum(kind = 1), sum(kind = 2) FROM attempt"
			 " WHERE begun >= ?1 AND kind <> 0 GROUP BY 1, 2, 3 ORDER BY 1",
	[RESULTS_TOTALS] = "SELECT platform, result, attempts FROM total",
};

// A power failure loses no result that was reported as stored: FULL. The catalog, which a scan makes again, uses NORMAL.
const struct database_kind results_schema = {
	.name = "results file",
	.advice = "move it away, with the files of its name and -wal and -shm, and the next build begins a new one",
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

// --- checks ---

enum {
	DAY = 86400,
	SECONDS_MOST = 10 * 365 * DAY, // as the time limits of the configuration
};

static bool is_hexadecimal(struct str text, size_t digits)
{
	for (size_t i = 0; i < text.len; i++)
		if (!ascii_is_digit(text.ptr[i]) && (text.ptr[i] < 'a' || text.ptr[i] > 'f'))
			return false;
	return text.len == digits;
}

// A part of a path or of a line: no blank, no control character, no "/".
static bool is_word(struct str text, size_t most)
{
	for (size_t i = 0; i < text.len; i++)
		if ((unsigned char)text.ptr[i] <= ' ' || text.ptr[i] == '/' || text.ptr[i] == 0x7f)
			return false;
	return text.len > 0 && text.len <= most && str_is_utf8(text);
}

static bool is_line(struct str text, size_t most)
{
	for (size_t i = 0; i < text.len; i++)
		if ((unsigned char)text.ptr[i] < ' ' || text.ptr[i] == 0x7f)
			return false;
	return text.len <= most && str_is_utf8(text);
}

// --- one value each ---

static bool check_id(const struct results_attempt *a)
{
	return is_hexadecimal(str_from(a->id), RESULTS_ID);
}

static bool check_platform(const struct results_attempt *a)
{
	return platform_name_is_valid(str_from(a->platform));
}

static bool check_python(const struct results_attempt *a)
{
	struct err ignored = ERR_INIT;
	struct python python;
	if (python_parse(str_from(a->python), &python, &ignored) < 0)
		return false;
	CLEANUP(buf_release) struct buf normal;
	buf_init(&normal, LIMIT_NOTE);
	python_print(&python, &normal);
	return str_eq(buf_view(&normal), str_from(a->python));
}

static bool check_project(const struct results_attempt *a)
{
	struct str name = str_from(a->project);
	return name.len <= LIMIT_FILE_NAME && name_is_valid(name) && name_is_normal(name);
}

static bool check_version(const struct results_attempt *a)
{
	return is_word(str_from(a->version), LIMIT_FILE_NAME) && version_is_valid(str_from(a->version));
}

static bool check_result(const struct results_attempt *a)
{
	return (unsigned)a->result < RESULTS_RESULT_COUNT;
}

static bool check_step(const struct results_attempt *a)
{
	static const char *const step[] = {"", "fetch", "build", "repair", "extra", "audit", "test", "push"};
	for (size_t i = 0; i < ARRAY_SIZE(step); i++)
		if (strcmp(a->step, step[i]) == 0)
			return true;
	return false;
}

static bool check_why(const struct results_attempt *a)
{
	return is_line(str_from(a->why), LIMIT_REASON);
}

static bool check_seconds(const struct results_attempt *a)
{
	return isfinite(a->seconds) && a->seconds >= 0 && a->seconds <= SECONDS_MOST;
}

static bool check_memory(const struct results_attempt *a)
{
	return a->peak_memory <= INT64_MAX;
}

static bool check_files(const struct results_attempt *a)
{
	struct str rest = str_from(a->files);
	size_t count = 0;
	while (rest.len) {
		struct str line = str_cut(&rest, '\n');
		struct str name = str_cut(&line, ' '), digest = str_cut(&line, ' ');
		uint64_t size;
		if (!is_word(name, LIMIT_FILE_NAME) || !is_hexadecimal(digest, 2 * SHA256_SIZE) ||
			!decimal_parse(line, INT64_MAX, &size) || ++count > LIMIT_RESULT_FILES)
			return false;
	}
	return true;
}

static bool check_sdist(const struct results_attempt *a)
{
	struct str rest = str_from(a->sdist);
	if (!rest.len)
		return true;
	struct str name = str_cut(&rest, ' ');
	return is_word(name, LIMIT_FILE_NAME) && is_hexadecimal(rest, 2 * SHA256_SIZE);
}

static bool check_awaiting(const struct results_attempt *a)
{
	struct str rest = str_from(a->awaiting);
	if (rest.len > LIMIT_RESULT_AWAITING)
		return false;
	while (rest.ptr && *a->awaiting) {
		struct str name = str_cut(&rest, ' ');
		if (!name_is_valid(name) || !name_is_normal(name))
			return false;
	}
	return true;
}

static bool check_recipe(const struct results_attempt *a)
{
	return !*a->recipe || is_hexadecimal(str_from(a->recipe), 2 * SHA256_SIZE);
}

static bool check_builder(const struct results_attempt *a)
{
	return is_line(str_from(a->builder), LIMIT_NOTE);
}

static bool check_provenance(const struct results_attempt *a)
{
	struct err ignored = ERR_INIT;
	struct str text = str_from(a->provenance);
	if (text.len == 0)
		return true;
	if (text.len > LIMIT_RESULT_PROVENANCE || *text.ptr != '{')
		return false;
	CLEANUP(jsondoc_cleanup) struct jsondoc *doc = jsondoc_read(text, &ignored);
	return doc != NULL;
}

int results_check(const struct results_attempt *a, int64_t now, struct err *e)
{
	static const struct {
		const char *name;
		bool (*is_good)(const struct results_attempt *a);
	} value[] = {
		{"id", check_id},
		{"platform", check_platform},
		{"python", check_python},
		{"project", check_project},
		{"version", check_version},
		{"result", check_result},
		{"step", check_step},
		{"why", check_why},
		{"seconds", check_seconds},
		{"peak_memory", check_memory},
		{"files", check_files},
		{"sdist", check_sdist},
		{"awaiting", check_awaiting},
		{"recipe", check_recipe},
		{"builder", check_builder},
		{"provenance", check_provenance},
	};
	for (size_t i = 0; i < ARRAY_SIZE(value); i++)
		if (!value[i].is_good(a))
			return err_set(e, ERR_INVALID, "build result: %s is not valid", value[i].name);
	if (a->begun < 0 || a->begun > now + DAY)
		return err_set(e, ERR_INVALID, "build result: begun is not valid: the builder's clock is wrong");
	return 0;
}
