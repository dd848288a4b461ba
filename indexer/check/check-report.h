// SPDX-License-Identifier: Apache-2.0
// What the summary of a check tells: its rows.
#pragma once

#include "indexer/walk/summary.h"

// What is wrong with a file: a list and, in the same order, a number each.
enum checked_list {
	CHECKED_LIST_CORRUPT,    // path, sha256 that is recorded, and that was found
	CHECKED_LIST_CHANGED,    // path, how
	CHECKED_LIST_ORPHANED,   // path
	CHECKED_LIST_STRANGE,    // path
	CHECKED_LIST_MISPLACED,  // path, its project
	CHECKED_LIST_UNREADABLE, // reason
	CHECKED_LISTS,
};

enum checked_number {
	CHECKED_FILES,   // wheels and sdists seen
	CHECKED_LISTED,  // in the catalog
	CHECKED_HASHED,  // of these
	CHECKED_CORRUPT, // other bytes under the size and time that are recorded
	CHECKED_CHANGED, // another size, or other bytes and another time: a scan will see it
	CHECKED_ORPHANED,
	CHECKED_STRANGE,
	CHECKED_MISPLACED,
	CHECKED_UNREADABLE,
	CHECKED_WAITING, // still being written
	CHECKED_DAMAGED, // not in the catalog, and will be quarantined
	CHECKED_IGNORED, // neither wheels nor sdists
	CHECKED_LINKS,   // links that were not followed
	CHECKED_SEED,    // of the random choice; 0: there was none
	CHECKED_BYTES,   // hashed
	CHECKED_NUMBERS,
};

extern const struct summary_shape checked_shape;
