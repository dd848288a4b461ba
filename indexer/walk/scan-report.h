// SPDX-License-Identifier: Apache-2.0
// The numbers and lists in a scan's summary. Constant data: any thread.
#pragma once

#include "indexer/walk/summary.h"

enum scan_report_number {
	SCAN_REPORT_FILES, // wheels and sdists seen
	SCAN_REPORT_ADDED, // file names that are listed now
	SCAN_REPORT_UNCHANGED,
	SCAN_REPORT_CHANGED,        // other bytes under a listed name
	SCAN_REPORT_GONE,           // file names that are no longer listed
	SCAN_REPORT_QUARANTINED,    // files that are refused, with those of earlier scans
	SCAN_REPORT_MISFITS,        // listed files that install on no machine of their platform, the same
	SCAN_REPORT_DUPLICATES,     // good files whose name another folder of the platform has
	SCAN_REPORT_PRUNED,         // good files that have a tombstone
	SCAN_REPORT_WAITING,        // still being written
	SCAN_REPORT_IGNORED,        // neither wheels nor sdists
	SCAN_REPORT_LINKS,          // links that were not followed
	SCAN_REPORT_SHADOWED,       // files that the merged view hides behind one of the same name
	SCAN_REPORT_FINDINGS,       // oddities of files that were read and accepted
	SCAN_REPORT_INSIDE,         // wheels whose facts were taken
	SCAN_REPORT_INSIDE_UNKNOWN, // wheels that have none, because they cannot be read
	SCAN_REPORT_INSIDE_LACKING, // wheels that have none yet
	SCAN_REPORT_GENERATIONS,    // of views that are new
	SCAN_REPORT_EVIDENCE,       // records that are new
	SCAN_REPORT_PROBLEMS,       // what could not be read: the scan has failed
	SCAN_REPORT_BYTES,          // hashed
	SCAN_REPORT_EXPORT_WRITTEN, // files and links of the static export
	SCAN_REPORT_EXPORT_REMOVED,
	SCAN_REPORT_EXPORT_KEPT, // already up to date
	SCAN_REPORT_NUMBERS,
};

enum scan_report_list {
	SCAN_REPORT_LIST_PROBLEMS,    // reason
	SCAN_REPORT_LIST_CHANGED,     // path, old and new sha256; not of mutable platforms
	SCAN_REPORT_LIST_QUARANTINED, // path, reason
	SCAN_REPORT_LIST_MISFITS,     // path, reason
	SCAN_REPORT_LIST_NEWS,        // of these two lists what the catalog did not have: path, reason, "quarantined" or "misfit"
	SCAN_REPORT_LIST_DUPLICATES,  // path, reason
	SCAN_REPORT_LIST_DIFFERING,   // file name, and on how many platforms its bytes differ
	SCAN_REPORT_LIST_WAITING,     // path with the reason
	SCAN_REPORT_LIST_FINDINGS,    // path, oddities
	SCAN_REPORT_LIST_LINKS,       // path, why it is not followed
	SCAN_REPORT_LIST_STRAY,       // names at the top of the store that are not platforms
	SCAN_REPORT_LISTS,
};

extern const struct summary_shape scan_report_shape;
