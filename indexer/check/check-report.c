// SPDX-License-Identifier: Apache-2.0
#include "indexer/check/check-report.h"

static const struct summary_number number_row[CHECKED_NUMBERS] = {
	[CHECKED_FILES] = {"files", "wheels and sdists seen", true},
	[CHECKED_LISTED] = {"listed", "listed in the catalog", true},
	[CHECKED_HASHED] = {"hashed", "hashed", true},
	[CHECKED_CORRUPT] = {"corrupt", "corrupt", true},
	[CHECKED_CHANGED] = {"changed", "changed since the scan", true},
	[CHECKED_ORPHANED] = {"orphaned", "orphaned", true},
	[CHECKED_STRANGE] = {"strange", "strange", true},
	[CHECKED_MISPLACED] = {"misplaced", "misplaced", true},
	[CHECKED_UNREADABLE] = {"unreadable", "unreadable", true},
	[CHECKED_WAITING] = {"waiting", "still being written", false},
	[CHECKED_DAMAGED] = {"damaged", "new and damaged: the next scan quarantines them", false},
	[CHECKED_IGNORED] = {"ignored", "other entries ignored", false},
	[CHECKED_LINKS] = {"links_ignored", "links not followed", false},
	[CHECKED_SEED] = {"seed", "is the seed of this random choice", false},
	[CHECKED_BYTES] = {"bytes_hashed", NULL, false},
};

static const struct summary_list list_row[CHECKED_LISTS] = {
	[CHECKED_LIST_CORRUPT] = {"corrupt",
		"CORRUPT: other bytes, though size and time are those of the catalog",
		{"path", "recorded", "found"}},
	[CHECKED_LIST_CHANGED] = {"changed", "changed since the scan", {"path", "reason"}},
	[CHECKED_LIST_ORPHANED] = {"orphaned", "orphaned: in the catalog, not in the store",
		{"path"}},
	[CHECKED_LIST_STRANGE] = {"strange", "strange: in the store, not in the catalog", {"path"}},
	[CHECKED_LIST_MISPLACED] = {"misplaced",
		"misplaced: in the folder of another project than theirs", {"path", "project"}},
	[CHECKED_LIST_UNREADABLE] = {"unreadable", "unreadable: nothing can be said of them",
		{"reason"}},
};

const struct summary_shape checked_shape = {
	.number = number_row,
	.number_count = CHECKED_NUMBERS,
	.bytes = CHECKED_BYTES,
	.list = list_row,
	.list_count = CHECKED_LISTS,
};
