// SPDX-License-Identifier: Apache-2.0
// The scan: brings the catalog up to date with the store. Reads the store only; never writes there.
//
// A file whose size, mtime and inode are known is not opened; a folder whose mtime is known is not
// listed, but its known files are looked at. What changed within two seconds of the look that
// recorded it is not trusted, nor is a folder's mtime of whole seconds.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "indexer/walk/scan-report.h"
#include "indexer/walk/walk.h"
#include "lib/base/err.h"
#include "lib/state/catalog/catalog.h"
#include "lib/state/store/store.h"

struct scan_options {
	unsigned threads;       // 0: as many as the machine has processors
	uint64_t settle;        // seconds: a damaged file younger than this is still being written
	bool no_wait;           // ERR_BUSY where another indexer is at work, instead of waiting for it
	bool allow_empty;       // a platform that has lost all of its files, or its folder, was emptied
				// on purpose
	bool compare_platforms; // sum up which names they share, also where nothing changed: as
				// slow as the scan itself
	bool is_logged;         // its error, which names nothing of a private platform then
	const char *owner;      // who is at work, for others that wait: "wheelcache index"
	struct walk_watch watch;
};

// Scans all platforms of a registered store, in the calling thread and options->threads more. On -1
// what was recorded until then stays, and the next scan goes on from there. ERR_BUSY also where it
// was cancelled. ERR_IO where something could not be looked at: all else was done, and summary says
// what.
int scan_run(struct store *store, struct catalog *catalog, const struct scan_options *options, struct summary *summary,
	struct err *e) MUST_CHECK;
