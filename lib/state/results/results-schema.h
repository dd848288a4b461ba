// SPDX-License-Identifier: Apache-2.0
// The SQL of the file of build results: the schema as numbered steps, and every statement (constant text); and the
// connection. Only for results.c, results-keep.c and results-read.c.
#pragma once

#include <stdint.h>

#include "lib/base/buf.h"
#include "lib/state/database/database.h"

extern const struct database_kind results_schema;

// attempt.kind
enum results_kind { RESULTS_KIND_NONE, RESULTS_KIND_GOOD, RESULTS_KIND_FAILED };

enum results_statement {
	RESULTS_BEGIN,
	RESULTS_COMMIT,
	RESULTS_ROLLBACK,
	RESULTS_SAME,
	RESULTS_STATE,
	RESULTS_PUT,
	RESULTS_SENT,
	RESULTS_KEEP,
	RESULTS_CLEANED,
	RESULTS_CLEAN,
	RESULTS_SET_CLEANED,
	RESULTS_SIZE,
	RESULTS_LIST,
	RESULTS_LIST_FAILED,
	RESULTS_LIST_RUNNING,
	RESULTS_LIST_UNSENT,
	RESULTS_LIST_PROJECT,
	RESULTS_FIND,
	RESULTS_FIND_ID,
	RESULTS_LOG,
	RESULTS_HISTORY,
	RESULTS_DAYS,
	RESULTS_TOTALS,
	RESULTS_RAISE_TOTAL,
	RESULTS_HAS,
	RESULTS_WITHOUT_FILE,
	RESULTS_LOG_SIZE,
	RESULTS_SET_SIZE,
	RESULTS_FORGET_LOG,
	RESULTS_SETTLED,
	RESULTS_SET_SETTLED,
	RESULTS_STATEMENT_COUNT,
};

// A connection.
struct results {
	struct database *database;
	char *path;
	char *files; // the folder of the attempts (attempt-file.h)
};

struct query;
struct results_attempt;
struct strset;

// Of the rows of RESULTS_FIND and of lists. Strings are borrowed until the next step.
enum { RESULTS_NUMBER_COLUMN = 19 };
const char *results_text(struct query *q, int column); // "" for NULL
int results_read_result(struct results *r, const char *name, struct err *e) MUST_CHECK; // enum results_result, or -1
int results_read_row(struct results *r, struct query *q, struct results_attempt *a, struct err *e) MUST_CHECK;
// number 0: a new one.
int results_put_row(struct results *r, const struct results_attempt *a, int64_t number, struct err *e) MUST_CHECK;
void results_roll_back(struct results **r); // for CLEANUP; NULL is fine

// Brings the files up to date with an index of an older wheelcache, and a new index with the files, once.
int results_settle(struct results *r, struct err *e) MUST_CHECK;
// Appends the packed log of an attempt. 1; 0: it has none.
int results_packed_log(struct results *r, const char *id, struct buf *out, struct err *e) MUST_CHECK;
// Within a transaction: the log is in the file, with so many bytes.
int results_note_size(struct results *r, const char *id, size_t packed, struct err *e) MUST_CHECK;
// Writes the file of a row, if there is one, with this log. ptr NULL: none.
int results_write_file(struct results *r, const char *id, struct str packed, struct err *e) MUST_CHECK;
// The same with the log that it has.
int results_keep(struct results *r, const char *id, struct err *e) MUST_CHECK;
// Of rows that are gone. A file that stays is logged.
void results_remove_files(struct results *r, const struct strset *ids);
