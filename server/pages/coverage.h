// SPDX-License-Identifier: Apache-2.0
// The matrices of many projects, as /-/coverage shows them: which wheels their newest versions have in each environment
// of the platforms that a client may read. One thread fills a value; any thread may read it.
#pragma once

#include "builder/missing/project-matrix.h"
#include "server/pages/page.h"

struct coverage_column {
	const struct platform *platform;
	char python[16]; // "3.12"
};

struct coverage_row {
	struct project_matrix matrix;    // of all platforms that the client may read
	const struct matrix_cell **cell; // by column; NULL: the client may not read the project there
};

struct coverage_data {
	struct coverage_column *column; // in the store's order of platforms and the profile's order of Pythons
	size_t columns, column_room;
	struct coverage_row *row; // by name
	size_t rows, row_room;
	uint64_t total; // projects that fit the query, whatever states they have, before and after these rows
	char *next;     // there may be more rows after this name; NULL: these are the last ones. Owned
};

// What a page has so far.
struct coverage_taken {
	size_t rows, columns, bytes; // bytes: of the matrices
	int64_t begun_ms;            // clock_ms()
};
// Whether the page ends before its next row.
bool coverage_is_full(size_t limit, const struct coverage_taken *t, int64_t now_ms);

// Adds the URL of other rows, relative to /-/coverage: the query with another `after`, and the form if it is none for
// people.
void coverage_url(const struct page_query *q, enum page_form form, size_t limit, const char *after, struct buf *out);
// Adds the URL of one cell, with the same base.
void coverage_cell_url(const char *project, const char *platform, const char *python, struct buf *out);
