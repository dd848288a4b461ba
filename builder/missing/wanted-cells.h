// SPDX-License-Identifier: Apache-2.0
// Which environments `missing` is about, and what the branches want in each of them, project by project. One thread at
// a time until it is collected; then constant.
#pragma once

#include "lib/base/strset.h"
#include "lib/install/fits.h"
#include "builder/missing/branch.h"
#include "builder/missing/missing.h"

// A want in one place.
struct wanted_cell {
	const struct branch_want *want;
	size_t place, branch;
};

// All zero is empty. The store and the branches are borrowed.
struct wanted_cells {
	struct fits fits; // its places: platforms in the store's order, Pythons in the profile's
	struct wanted_cell *cell; // sorted by project, place, branch
	size_t cells, cell_room;
	struct strset projects; // that are wanted of an index somewhere; sorted
	struct wanted_list *list;
	size_t lists, list_room;
	struct arena text;
};

// ERR_USAGE: the Pythons of a platform are unknown, or no branch has any environment that the options choose; and the
// errors of branch_wants(). To be released in any case.
int wanted_cells_collect(struct wanted_cells *w, const struct branches *branches, const struct store *store,
	const struct missing_options *options, struct err *e) MUST_CHECK;
void wanted_cells_release(struct wanted_cells *w);
// The index of the first cell of the project; if there is none, of a later project or behind the last.
size_t wanted_cells_first(const struct wanted_cells *w, const char *project);
