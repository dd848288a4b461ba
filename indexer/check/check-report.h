// SPDX-License-Identifier: Apache-2.0
// What the summary of a check tells: its rows.
#pragma once

#include "indexer/walk/summary.h"

// What is wrong with a file: a list and, in the same order, a number each.
enum check_report_list {
	CHECK_REPORT_LIST_CORRUPT,    // path, sha256 that is recorded, and that was found
	CHECK_REPORT_LIST_CHANGED,    // path, how
	CHECK_REPORT_LIST_ORPHANED,   // path
	CHECK_REPORT_LIST_STRANGE,    // path
	CHECK_REPORT_LIST_MISPLACED,  // path, its project
	CHECK_REPORT_LIST_UNREADABLE, // reason
	CHECK_REPORT_LISTS,
};

enum check_report_number {
	CHECK_REPORT_FILES,   // wheels and sdists seen
	CHECK_REPORT_LISTED,  // in the catalog
	CHECK_REPORT_HASHED,  // of these
	CHECK_REPORT_CORRUPT, // other bytes under the size and time that are recorded
	CHECK_REPORT_CHANGED, // another size, or other bytes and another time: a scan will see it
	CHECK_REPORT_ORPHANED,
	CHECK_REPORT_STRANGE,
	CHECK_REPORT_MISPLACED,
	CHECK_REPORT_UNREADABLE,
	CHECK_REPORT_WAITING, // still being written
	CHECK_REPORT_DAMAGED, // not in the catalog, and will be quarantined
	CHECK_REPORT_IGNORED, // neither wheels nor sdists
	CHECK_REPORT_LINKS,   // links that were not followed
	CHECK_REPORT_SEED,    // of the random choice; 0: there was none
	CHECK_REPORT_BYTES,   // hashed
	CHECK_REPORT_NUMBERS,
};

extern const struct summary_shape check_report_shape;
