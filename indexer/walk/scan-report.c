// SPDX-License-Identifier: Apache-2.0
#include "indexer/walk/scan-report.h"

static const struct summary_number number_row[SCAN_REPORT_NUMBERS] = {
	[SCAN_REPORT_FILES] = {"files", "wheels and sdists seen", true},
	[SCAN_REPORT_ADDED] = {"added", "added", true},
	[SCAN_REPORT_UNCHANGED] = {"unchanged", "unchanged", true},
	[SCAN_REPORT_CHANGED] = {"changed", "with other bytes than before", true},
	[SCAN_REPORT_GONE] = {"gone", "gone", true},
	[SCAN_REPORT_QUARANTINED] = {"quarantined", "quarantined", true},
	[SCAN_REPORT_MISFITS] = {"misfits", "for other machines than those of their platform", false},
	[SCAN_REPORT_DUPLICATES] = {"duplicates", "of a name that is in another folder too", false},
	[SCAN_REPORT_PRUNED] = {"pruned", "not listed, by a tombstone", false},
	[SCAN_REPORT_WAITING] = {"waiting", "still being written", false},
	[SCAN_REPORT_IGNORED] = {"ignored", "other entries ignored", false},
	[SCAN_REPORT_LINKS] = {"links_ignored", "links not followed", false},
	[SCAN_REPORT_SHADOWED] = {"shadowed", "hidden in the merged view by an earlier platform", false},
	[SCAN_REPORT_FINDINGS] = {"findings", "oddities in files that were taken", false},
	[SCAN_REPORT_INSIDE] = {"facts_taken", "looked inside", false},
	[SCAN_REPORT_INSIDE_UNKNOWN] = {"facts_unknown", "with an inside that cannot be read", false},
	[SCAN_REPORT_INSIDE_LACKING] = {"facts_lacking", "not looked inside yet", false},
	[SCAN_REPORT_GENERATIONS] = {"generations", "generations of views read", false},
	[SCAN_REPORT_EVIDENCE] = {"evidence", "records of evidence read", false},
	[SCAN_REPORT_PROBLEMS] = {"problems", NULL, false},
	[SCAN_REPORT_BYTES] = {"bytes_hashed", NULL, false},
	[SCAN_REPORT_EXPORT_WRITTEN] = {"export_written", "written to the static export", false},
	[SCAN_REPORT_EXPORT_REMOVED] = {"export_removed", "removed from the static export", false},
	[SCAN_REPORT_EXPORT_KEPT] = {"export_kept", "right already in the static export", false},
};

static const struct summary_list list_row[SCAN_REPORT_LISTS] = {
	[SCAN_REPORT_LIST_PROBLEMS] = {"problems", "could not be looked at, and stay as they were", {"reason"}, false},
	[SCAN_REPORT_LIST_CHANGED] = {"changed", "ALARM: bytes changed under a published name",
		{"path", "before", "after"}, true},
	[SCAN_REPORT_LIST_QUARANTINED] = {"quarantined", "quarantined: not listed", {"path", "reason"}, true},
	[SCAN_REPORT_LIST_MISFITS] = {"misfits", "listed, but for other machines than those of their platform",
		{"path", "reason"}, true},
	[SCAN_REPORT_LIST_NEWS] = {"new_problems", NULL, {"path", "reason", "kind"}, false},
	[SCAN_REPORT_LIST_DUPLICATES] = {"duplicates", "listed from another folder of the platform",
		{"path", "reason"}, false},
	[SCAN_REPORT_LIST_DIFFERING] = {"differing", "listed by several platforms with different bytes",
		{"filename", "platforms"}, false},
	[SCAN_REPORT_LIST_WAITING] = {"waiting", "still being written", {"file"}, false},
	[SCAN_REPORT_LIST_FINDINGS] = {"findings", "odd, and taken all the same", {"path", "oddities"}, false},
	[SCAN_REPORT_LIST_LINKS] = {"links", "links that are not followed", {"path", "reason"}, false},
	[SCAN_REPORT_LIST_STRAY] = {"stray", "beside the platforms, and not looked into", {"name"}, false},
};

const struct summary_shape scan_report_shape = {
	.number = number_row,
	.number_count = SCAN_REPORT_NUMBERS,
	.bytes = SCAN_REPORT_BYTES,
	.list = list_row,
	.list_count = SCAN_REPORT_LISTS,
};
