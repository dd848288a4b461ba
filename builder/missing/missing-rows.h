// SPDX-License-Identifier: Apache-2.0
// Collects the rows of a struct missing while cells are decided: joins the rows of branches that come to the same,
// applies what earlier attempts say, counts and sorts. One thread at a time.
#pragma once

#include "builder/missing/cell-status.h"

// A row of the cell that is being decided.
struct rows_open {
	struct cell_status status;
	const struct branch_want *want; // of its first branch
	uint64_t micros;
	const char **branch; // names
	size_t branches, branch_room;
};

// A row that is kept.
struct rows_kept {
	struct missing_row row;
	size_t environment, order; // order: of its creation
	char *awaiting;            // build requirements that the last attempt lacked, with blanks between; NULL: none
	bool is_hidden;            // only to know what others await
};

struct missing_rows {
	struct missing *out; // borrowed: its environments are set
	bool wants_all;
	struct rows_open *open;
	size_t opened, open_room;
	struct rows_kept *kept;
	size_t count, room;
};

// All zero but out and wants_all is empty.
void missing_rows_release(struct missing_rows *m);
// Adds what a branch wants in the cell.
void missing_rows_add(struct missing_rows *m, const struct cell *cell, const char *branch,
	const struct branch_want *want);
// Ends a cell. environment: its index in out. Errors of catalog.h and results.h.
int missing_rows_end_cell(struct missing_rows *m, const struct cell *cell, size_t environment, bool is_hidden,
	struct err *e) MUST_CHECK;
// Calls fn for each build requirement that a row awaits. fn must not add rows.
typedef void missing_rows_name_fn(void *ctx, struct str project);
void missing_rows_awaited(const struct missing_rows *m, missing_rows_name_fn *fn, void *ctx);
// Decides what is AWAITING, and moves the rows to out, sorted.
void missing_rows_finish(struct missing_rows *m);
