// SPDX-License-Identifier: Apache-2.0
#include "indexer/check/check-report.h"

static const struct summary_number number_row[CHECK_REPORT_NUMBERS] = {
	[CHECK_REPORT_FILES] = {"files", "wheels and sdists seen", true},
	[CHECK_REPORT_LISTED] = {"listed", "listed in the catalog", true},
	[CHECK_REPORT_HASHED] = {"hashed", "hashed", true},
	[CHECK_REPORT_CORRUPT] = {"corrupt", "corrupt", true},
	[CHECK_REPORT_CHANGED] = {"changed", "changed since the scan", true},
	[CHECK_REPORT_ORPHANED] = {"orphaned", "orphaned", true},
	[CHECK_REPORT_STRANGE] = {"strange", "strange", true},
	[CHECK_REPORT_MISPLACED] = {"misplaced", "misplaced", true},
	[CHECK_REPORT_UNREADABLE] = {"unreadable", "unreadable", true},
	[CHECK_REPORT_UNFIT] = {"unfit", "unfit", true},
	[CHECK_REPORT_VIEWS] = {"views", "wrong in views", true},
	[CHECK_REPORT_WAITING] = {"waiting", "still being written", false},
	[CHECK_REPORT_DAMAGED] = {"damaged", "new and damaged: the next scan quarantines them", false},
	[CHECK_REPORT_IGNORED] = {"ignored", "other entries ignored", false},
	[CHECK_REPORT_LINKS] = {"links_ignored", "links not followed", false},
	[CHECK_REPORT_ALONE] = {"alone", "provenance without its file", false},
	[CHECK_REPORT_SEED] = {"seed", "is the seed of this random choice", false},
	[CHECK_REPORT_BYTES] = {"bytes_hashed", NULL, false},
};

static const struct summary_list list_row[CHECK_REPORT_LISTS] = {
	[CHECK_REPORT_LIST_CORRUPT] = {"corrupt", "CORRUPT: other bytes, though size and time are those of the catalog",
		{"path", "recorded", "found"}, false},
	[CHECK_REPORT_LIST_CHANGED] = {"changed", "changed since the scan", {"path", "reason"}, false},
	[CHECK_REPORT_LIST_ORPHANED] = {"orphaned", "orphaned: in the catalog, not in the store", {"path"}, false},
	[CHECK_REPORT_LIST_STRANGE] = {"strange", "strange: in the store, not in the catalog", {"path"}, false},
	[CHECK_REPORT_LIST_MISPLACED] = {"misplaced", "misplaced: in the folder of another project than theirs",
		{"path", "project"}, false},
	[CHECK_REPORT_LIST_UNREADABLE] = {"unreadable", "unreadable: nothing can be said of them", {"reason"}, false},
	[CHECK_REPORT_LIST_UNFIT] = {"unfit", "unfit: provenance that is not valid, or not that of its file",
		{"path", "reason"}, false},
	[CHECK_REPORT_LIST_VIEWS] = {"views", "memberships of views and evidence that are not those of the catalog",
		{"path", "reason"}, false},
};

const struct summary_shape check_report_shape = {
	.number = number_row,
	.number_count = CHECK_REPORT_NUMBERS,
	.bytes = CHECK_REPORT_BYTES,
	.list = list_row,
	.list_count = CHECK_REPORT_LISTS,
};
