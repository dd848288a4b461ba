// SPDX-License-Identifier: Apache-2.0
// The scan of what is known to have changed: a few names of a store, by the same rules as the scan of all. It may run
// beside such a scan, and beside uploads: a row that another process has written meanwhile is left alone.
//
// It does not open a file whose size, mtime and inode are those of its row, however young: the row is of an upload, or
// of another server on the catalog. What is wrong is left to the scan of all, which reports it.
#pragma once

#include <stdatomic.h>
#include <stdbool.h>

#include "indexer/walk/scan-report.h"
#include "indexer/walk/store-changes.h"
#include "indexer/walk/walk.h"
#include "lib/base/err.h"
#include "lib/state/catalog/catalog.h"
#include "lib/state/store/store.h"

struct scan_changes_options {
	unsigned threads;  // 0: one per processor
	uint64_t settle;   // seconds: a damaged file younger than this is still being written
	bool takes_facts;  // what is inside wheels is noted
	const char *owner; // the name that other processes see while they wait
	// An open folder that is new, and is about to be listed. Any thread; NULL: none.
	void (*on_folder)(void *ctx, const struct folder *folder, struct place_folder *open);
	void *ctx;
	const _Atomic bool *cancel; // any thread may set it: the scan ends soon; NULL: never
};

// store: registered. changes: with folders; it sorts them. *wants_whole: a platform has lost all of its files, or
// something could not be read, which a scan of all decides and reports. On -1 what was committed stays. ERR_BUSY where
// it was cancelled; errors of catalog.h. *summary is filled in any case; the caller releases it.
int scan_changes_run(const struct store *store, struct catalog *catalog, struct store_changes *changes,
	const struct scan_changes_options *options, struct summary *summary, bool *wants_whole,
	struct err *e) MUST_CHECK;
