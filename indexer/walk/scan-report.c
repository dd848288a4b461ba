// SPDX-License-Identifier: Apache-2.0
#include "indexer/walk/scan-report.h"

static const struct summary_number number_row[SCANNED_NUMBERS] = {
	[SCANNED_FILES] = {"files", "wheels and sdists seen", true},
	[SCANNED_ADDED] = {"added", "added", true},
	[SCANNED_UNCHANGED] = {"unchanged", "unchanged", true},
	[SCANNED_CHANGED] = {"changed", "with other bytes than before", true},
	[SCANNED_GONE] = {"gone", "gone", true},
	[SCANNED_QUARANTINED] = {"quarantined", "quarantined", true},
	[SCANNED_DUPLICATES] = {"duplicates", "of a name that is in another folder too", false},
	[SCANNED_PRUNED] = {"pruned", "not listed, by a tombstone", false},
	[SCANNED_WAITING] = {"waiting", "still being written", false},
	[SCANNED_IGNORED] = {"ignored", "other entries ignored", false},
	[SCANNED_LINKS] = {"links_ignored", "links not followed", false},
	[SCANNED_SHADOWED] = {"shadowed", "hidden in the merged view by an earlier platform",
		false},
	[SCANNED_FINDINGS] = {"findings", "oddities in files that were taken", false},
	[SCANNED_PROBLEMS] = {"problems", NULL, false},
	[SCANNED_BYTES] = {"bytes_hashed", NULL, false},
	[SCANNED_EXPORT_WRITTEN] = {"export_written", "written to the static export", false},
	[SCANNED_EXPORT_REMOVED] = {"export_removed", "removed from the static export", false},
	[SCANNED_EXPORT_KEPT] = {"export_kept", "right already in the static export", false},
};

static const struct summary_list list_row[SCANNED_LISTS] = {
	[SCANNED_LIST_PROBLEMS] = {"problems", "could not be looked at, and stay as they were",
		{"reason"}},
	[SCANNED_LIST_CHANGED] = {"changed", "ALARM: bytes changed under a published name",
		{"path", "before", "after"}},
	[SCANNED_LIST_QUARANTINED] = {"quarantined", "quarantined: not listed", {"path", "reason"}},
	[SCANNED_LIST_DUPLICATES] = {"duplicates", "listed from another folder of the platform",
		{"path", "reason"}},
	[SCANNED_LIST_DIFFERING] = {"differing", "listed by several platforms with different bytes",
		{"filename", "platforms"}},
	[SCANNED_LIST_WAITING] = {"waiting", "still being written", {"file"}},
	[SCANNED_LIST_FINDINGS] = {"findings", "odd, and taken all the same", {"path", "oddities"}},
	[SCANNED_LIST_STRAY] = {"stray", "beside the platforms, and not looked into", {"name"}},
};

const struct summary_shape scanned_shape = {
	.number = number_row,
	.number_count = SCANNED_NUMBERS,
	.bytes = SCANNED_BYTES,
	.list = list_row,
	.list_count = SCANNED_LISTS,
};
