// SPDX-License-Identifier: Apache-2.0
// What a client asks of /-/coverage. One thread.
#pragma once

#include "builder/missing/project-matrix.h"
#include "server/core/readable.h"
#include "server/core/server-context.h"

enum coverage_form { COVERAGE_HTML, COVERAGE_JSON, COVERAGE_CSV };

// All text is the client's: not trusted, apart from its length.
struct coverage_query {
	const struct site *site;
	const struct readable *readable;       // set by the caller before the data is read
	char projects[REQUEST_ARGUMENT_SIZE];  // names and globs, with blanks between, in normal form; "": all
	char platforms[REQUEST_ARGUMENT_SIZE]; // the same, as they are spelled
	char pythons[REQUEST_ARGUMENT_SIZE];   // the same: "3.12", "3.*"
	char states[REQUEST_ARGUMENT_SIZE];    // only rows with one of these in a cell; "": all
	char after[REQUEST_ARGUMENT_SIZE];     // rows whose name comes after it; "": from the first
	bool wants_state[WHEEL_STATUS_COUNT];  // none: all rows
	enum coverage_form form;
	size_t limit; // rows
};

// NULL, or the 400 where the arguments are not valid, which the caller drops.
struct reply *coverage_query_read(const struct request *r, struct coverage_query *out);
// What a page has so far.
struct coverage_taken {
	size_t rows, columns, bytes; // bytes: of the matrices
	int64_t begun_ms;            // clock_ms()
};
// Whether the page ends before its next row.
bool coverage_query_is_full(const struct coverage_query *q, const struct coverage_taken *t, int64_t now_ms);
// Whether a name is one of a list of names and globs. An empty list has all.
bool coverage_query_has(const char *list, const char *name);
// Adds the URL of other rows, relative to /-/coverage: the query with another `after`, and the form if it is none for
// people.
void coverage_query_url(const struct coverage_query *q, const char *after, struct buf *out);
// Adds the URL of one cell, with the same base.
void coverage_query_cell_url(const char *project, const char *platform, const char *python, struct buf *out);
