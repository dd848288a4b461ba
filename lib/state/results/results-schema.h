// SPDX-License-Identifier: Apache-2.0
// The SQL of the file of build results: the schema as numbered steps, and every statement (constant text); and the
// connection. Only for results.c and results-read.c.
#pragma once

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
	RESULTS_PUT_LOG,
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
	RESULTS_STATEMENT_COUNT,
};

// A connection.
struct results {
	struct database *database;
	char *path;
};
