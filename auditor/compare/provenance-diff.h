// SPDX-License-Identifier: Apache-2.0
// Compares what two wheels were made of, by their provenance: a row for each component. Pure functions; any thread.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "lib/base/arena.h"
#include "lib/domain/wheel/provenance.h"

enum provenance_column {
	COLUMN_VERSION,
	COLUMN_SOURCE, // where it is from
	COLUMN_DIGEST,
	COLUMN_HOW,     // from source, or a package
	COLUMN_PATH,    // where it is installed
	COLUMN_OPTIONS, // of its build
	COLUMN_COUNT,
};
extern const char *const provenance_column_name[COLUMN_COUNT]; // "version", "source", …
// NULL: not said, or there is no row.
const char *provenance_column(const struct provenance_row *row, enum provenance_column column);

struct provenance_pair {
	const struct provenance_row *a, *b; // borrowed; NULL: not used
	bool is_equal;
	bool has_other_path; // both have it, at different paths
};

struct provenance_diff {
	struct provenance_pair *row; // those that differ first, by kind, then component
	size_t listed;               // at most LIMIT_COMPARE_ROWS
	size_t equal, different;
};

// a, b NULL: it has none. Borrows the rows. The arena owns what *out points to.
void provenance_diff_make(const struct provenance *a, const struct provenance *b, struct arena *text,
	struct provenance_diff *out);
