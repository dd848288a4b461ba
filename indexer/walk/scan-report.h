// SPDX-License-Identifier: Apache-2.0
// What the summary of a scan tells: its rows.
#pragma once

#include "indexer/walk/summary.h"

enum scanned_number {
	SCANNED_FILES, // wheels and sdists seen
	SCANNED_ADDED, // file names that are listed now
	SCANNED_UNCHANGED,
	SCANNED_CHANGED,     // other bytes under a listed name
	SCANNED_GONE,        // file names that are listed no more
	SCANNED_QUARANTINED, // files that are refused, with those of earlier scans
	SCANNED_DUPLICATES,  // good files whose name another folder of the platform has
	SCANNED_PRUNED,      // good files that have a tombstone
	SCANNED_WAITING,     // still being written
	SCANNED_IGNORED,     // neither wheels nor sdists
	SCANNED_LINKS,       // links that were not followed
	SCANNED_SHADOWED,    // files that the merged view hides behind one of the same name
	SCANNED_FINDINGS,    // oddities of files that were read and taken all the same
	SCANNED_PROBLEMS,    // what could not be looked at: the scan has failed
	SCANNED_BYTES,       // hashed
	SCANNED_EXPORT_WRITTEN, // files and links of the static export
	SCANNED_EXPORT_REMOVED,
	SCANNED_EXPORT_KEPT, // right already
	SCANNED_NUMBERS,
};

enum scanned_list {
	SCANNED_LIST_PROBLEMS,    // reason
	SCANNED_LIST_CHANGED,     // path, old and new sha256; not of mutable platforms
	SCANNED_LIST_QUARANTINED, // path, reason
	SCANNED_LIST_DUPLICATES,  // path, reason
	SCANNED_LIST_DIFFERING,   // file name, of which platforms list different bytes
	SCANNED_LIST_WAITING,     // path and why
	SCANNED_LIST_FINDINGS,    // path, oddities
	SCANNED_LIST_STRAY,       // names at the top of the store that are no platform's folder
	SCANNED_LISTS,
};

extern const struct summary_shape scanned_shape;
