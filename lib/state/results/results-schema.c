// SPDX-License-Identifier: Apache-2.0
#include "lib/state/results/results-schema.h"

#include "lib/base/mem.h"

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
