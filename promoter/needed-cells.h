// SPDX-License-Identifier: Apache-2.0
// Which cells of a view (platform and Python) must have evidence for a wheel. A wheel for one platform needs the cells of
// its own platform in which it installs, and those of other platforms in which pip would take it. A wheel for any
// platform needs each cell whose Python its tags and its Requires-Python admit. The cells are those of [view NAME]
// cells; where that names none, the environments of the view's platforms. One thread at a time.
#pragma once

#include "lib/install/fits.h"
#include "lib/state/config/promotion-rules.h"
#include "lib/state/store/store.h"

struct needed_cells {
	struct promotion_cell *cell; // in the order of the rules, or of the platforms and their Pythons
	size_t cells;
	struct environment *environment; // of each cell
	bool *is_blind;                  // of each cell: its platform has no profile, so only the Python counts
	struct fits fits; // its places are the cells
	struct arena text;
};

// Borrows the rules. ERR_USAGE: a cell has no such platform, or its Python is none. The caller releases *out if this
// returns 0.
int needed_cells_init(struct needed_cells *out, const struct promotion_rules *rules,
	const struct platform *const *platform, size_t platforms, struct err *e) MUST_CHECK;
void needed_cells_release(struct needed_cells *n); // for CLEANUP
// The rank of the wheel in the cell of this number: the lower, the rather pip takes it; -1: it does not install there, or
// the machines of the platform are unknown.
long needed_cells_rank(struct needed_cells *n, const struct filename *wheel, const char *requires_python, size_t cell);
// Whether pip in this cell takes another file than the wheel, whose rank there is this.
typedef bool needed_cells_covers_fn(void *ctx, size_t cell, long rank);
// Writes the cells of other platforms in which the wheel for this one installs, and covers is false, to out, which has
// room for all; returns their number. None of a wheel for any platform, of which needed_cells_of() has all cells.
size_t needed_cells_elsewhere(struct needed_cells *n, const char *platform, const struct filename *wheel,
	const char *requires_python, needed_cells_covers_fn *covers, void *ctx, struct promotion_cell *out);
// Writes the cells that the wheel of this platform needs to out, which has room for all; returns their number.
size_t needed_cells_of(struct needed_cells *n, const char *platform, const struct filename *wheel,
	const char *requires_python, struct promotion_cell *out);
