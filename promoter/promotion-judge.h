// SPDX-License-Identifier: Apache-2.0
// Judges files one by one: whether a view with `requires` takes them, and in which cells (platform and Python) they
// need evidence. A wheel for one platform needs the cells of its own platform in which it installs, and those of other
// platforms in which pip would take it. A wheel for any platform needs each cell whose Python its tags and its
// Requires-Python admit. The cells are those of [view NAME] cells; where that names none, the environments of the
// view's platforms. The judge asks its caller for evidence, and reads and writes nothing itself. One thread at a time.
#pragma once

#include "lib/install/fits.h"
#include "lib/state/catalog/catalog-evidence.h"
#include "lib/state/config/promotion-rules.h"
#include "lib/state/store/store.h"

// Finds the record that counts for the wheel in a cell, as promotion_find_fn. wheel has project, bytes, version and
// name.
typedef bool promotion_judge_find_fn(void *ctx, const struct catalog_tested *wheel, const struct promotion_rule *rule,
	const struct promotion_cell *cell, struct promotion_record *out);
// Called for each kind and cell of a wheel whose evidence does not suffice.
typedef void promotion_judge_lack_fn(void *ctx, const struct promotion_rule *rule, const struct promotion_cell *cell);

struct promotion_judge {
	struct promotion_rules rules;
	struct promotion_cell *cell; // in the order of the rules, or of the platforms and their Pythons
	size_t cells;
	int64_t now; // seconds since 1970
	promotion_judge_find_fn *find;
	void *ctx;
	struct promotion_cell *needed;   // of the file that is judged
	struct environment *environment; // of each cell
	bool *is_blind;                  // of each cell: its platform has no profile, so only the Python counts
	struct fits fits;                // its places are the cells
	struct arena text;
};

// requires, cells: the keys of the view, NULL: not set. find and ctx are borrowed. ERR_USAGE: a key is wrong, or a cell
// has no such platform or no Python. The caller releases *out if this returns 0. It must not move.
int promotion_judge_init(struct promotion_judge *out, const char *requires, const char *cells,
	const struct platform *const *platform, size_t platforms, int64_t now, promotion_judge_find_fn *find, void *ctx,
	struct err *e) MUST_CHECK;
void promotion_judge_release(struct promotion_judge *j); // for CLEANUP

// Whether pip in this cell takes another file than the wheel, whose rank there is this.
typedef bool promotion_covers_fn(void *ctx, size_t cell, long rank);
struct promotion_file {
	const char *platform, *filename;
	const char *requires_python; // NULL: none
	const uint8_t *sha256;
	// Whether pip takes another file of the view in a cell of another platform in which the wheel installs; NULL:
	// the wheel is for its own platform's address, and counts for no such cell.
	promotion_covers_fn *covers;
	void *covers_ctx;
	bool is_yanked;      // pip passes it over
	int64_t platform_id; // in the catalog, for wheel-tests.h
	const char *version; // NULL: it is not said
};
// Whether pip in this cell takes the other file of a version, which the cell's platform has, and not the one of this
// name and rank: it ranks better there and is not yanked, or has the same name, so that the view as a whole has
// neither.
bool promotion_judge_is_better(struct promotion_judge *j, const struct promotion_file *other, const char *filename,
	size_t cell, long rank);
// Writes the cells of the view that the file needs to j->needed, those of other platforms last; returns their number.
size_t promotion_judge_cells(struct promotion_judge *j, const struct promotion_file *file);
// The file as records know it. Borrowed from both. name: of the file.
struct catalog_tested promotion_file_tested(const struct promotion_file *file, const struct filename *name);
// Whether the view takes the file. False, with the reason appended to why.
bool promotion_judge_allows(struct promotion_judge *j, const struct promotion_file *file, struct buf *why);
// Calls fn, unless it is NULL, for all that the file lacks. False: no evidence can make the view take it
// (promotion_judge_allows() says why); fn is not called.
bool promotion_judge_lacks(struct promotion_judge *j, const struct promotion_file *file, promotion_judge_lack_fn *fn,
	void *ctx);
