// SPDX-License-Identifier: Apache-2.0
// Judges files one by one: whether a view with `requires` takes them. It asks its caller for evidence, and reads and
// writes nothing itself. One thread at a time.
#pragma once

#include "promoter/needed-cells.h"
#include "lib/state/catalog/catalog-evidence.h"

// Finds the record that counts for the wheel in a cell, as promotion_find_fn. wheel has project, bytes, version and name.
typedef bool promotion_judge_find_fn(void *ctx, const struct catalog_tested *wheel, const struct promotion_rule *rule,
	const struct promotion_cell *cell, struct promotion_record *out);
// Called for each kind and cell of a wheel whose evidence does not suffice.
typedef void promotion_judge_lack_fn(void *ctx, const struct promotion_rule *rule, const struct promotion_cell *cell);

struct promotion_judge {
	struct promotion_rules rules;
	struct needed_cells cells;
	int64_t now; // seconds since 1970
	promotion_judge_find_fn *find;
	void *ctx;
	struct promotion_cell *needed; // of the file that is judged
};

// requires, cells: the keys of the view, NULL: not set. find and ctx are borrowed. ERR_USAGE. The caller releases *out
// if this returns 0. It must not move.
int promotion_judge_init(struct promotion_judge *out, const char *requires, const char *cells,
	const struct platform *const *platform, size_t platforms, int64_t now, promotion_judge_find_fn *find, void *ctx,
	struct err *e) MUST_CHECK;
void promotion_judge_release(struct promotion_judge *j); // for CLEANUP

struct promotion_file {
	const char *platform, *filename;
	const char *requires_python; // NULL: none
	const uint8_t *sha256;
	// Whether pip takes another file of the view in a cell of another platform in which the wheel installs; NULL: the
	// wheel is for its own platform's address, and counts for no such cell.
	needed_cells_covers_fn *covers;
	void *covers_ctx;
};
// Writes the cells of the view that the file needs to j->needed; returns their number.
size_t promotion_judge_cells(struct promotion_judge *j, const struct promotion_file *file);
// Whether the view takes the file. False, with the reason appended to why.
bool promotion_judge_allows(struct promotion_judge *j, const struct promotion_file *file, struct buf *why);
// Calls fn for all that the file lacks. False: no evidence can make the view take it (promotion_judge_allows() says
// why); fn is not called.
bool promotion_judge_lacks(struct promotion_judge *j, const struct promotion_file *file, promotion_judge_lack_fn *fn,
	void *ctx);
