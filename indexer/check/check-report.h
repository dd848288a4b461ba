// SPDX-License-Identifier: Apache-2.0
// The numbers and lists in a check's summary. Constant data: any thread.
#pragma once

#include "indexer/walk/summary.h"

// The kinds of differences: each has a list, and a number in the same order.
enum check_report_list {
	CHECK_REPORT_LIST_CORRUPT,    // path, recorded sha256, found sha256
	CHECK_REPORT_LIST_CHANGED,    // path, how
	CHECK_REPORT_LIST_ORPHANED,   // path
	CHECK_REPORT_LIST_STRANGE,    // path
	CHECK_REPORT_LIST_MISPLACED,  // path, its project
	CHECK_REPORT_LIST_UNREADABLE, // reason
	CHECK_REPORT_LIST_UNFIT,      // path of an attachment, why it is not valid or not its file's
	CHECK_REPORT_LIST_VIEWS,      // path of a file of a view or of evidence, or a member of a view; what is wrong
	CHECK_REPORT_LISTS,
};

enum check_report_number {
	CHECK_REPORT_FILES,   // wheels and sdists seen
	CHECK_REPORT_LISTED,  // in the catalog
	CHECK_REPORT_HASHED,  // of these
	CHECK_REPORT_CORRUPT, // other bytes, with the recorded size and mtime
	CHECK_REPORT_CHANGED, // another size, or other bytes and another mtime: the next scan finds it
	CHECK_REPORT_ORPHANED,
	CHECK_REPORT_STRANGE,
	CHECK_REPORT_MISPLACED,
	CHECK_REPORT_UNREADABLE,
	CHECK_REPORT_UNFIT,
	CHECK_REPORT_VIEWS,
	CHECK_REPORT_WAITING, // still being written
	CHECK_REPORT_DAMAGED, // not in the catalog; the next scan will quarantine it
	CHECK_REPORT_IGNORED, // neither wheels nor sdists
	CHECK_REPORT_LINKS,   // links that were not followed
	CHECK_REPORT_ALONE,   // attachments whose file is not there (yet)
	CHECK_REPORT_SEED,    // of the random choice; 0: all files were hashed
	CHECK_REPORT_BYTES,   // hashed
	CHECK_REPORT_NUMBERS,
};

extern const struct summary_shape check_report_shape;
