// SPDX-License-Identifier: Apache-2.0
// The scan: brings the catalog up to date with the store. It only reads the store, except that it removes temporary
// files of dead processes.
//
// A file whose size, mtime and inode are those of its row is not opened. A folder whose mtime is that of its row is not
// listed; only its known files are checked. An mtime within two seconds of the scan that recorded it is not trusted,
// nor is a folder's mtime of whole seconds.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "indexer/walk/scan-report.h"
#include "indexer/walk/walk.h"
#include "lib/base/err.h"
#include "lib/state/catalog/catalog.h"
#include "lib/state/store/store.h"

struct scan_options {
	unsigned threads;       // 0: one per processor
	uint64_t settle;        // seconds: a damaged file younger than this is still being written
	bool no_wait;           // ERR_BUSY where another indexer is at work, instead of waiting for it
	bool allow_empty;       // a platform without files, or without its folder, was emptied on purpose
	bool compare_platforms; // report the names that platforms share: as slow as a scan that finds no change
	bool is_logged;         // the error goes to a log: it names nothing of a private platform
	bool takes_facts;       // what is inside wheels is noted
	unsigned inside_ms;     // how long wheels are read again whose facts the catalog lacks; 0: until it lacks none
	const char *views;      // the folder of memberships and evidence; NULL: none
	unsigned views_ms;      // how long it may take to answer
	uint64_t evidence_keep; // seconds after which records that no membership names end; 0: never
	const char *owner;      // the name that other processes see while they wait: "wheelcache index"
	// An open folder that is about to be listed. Any thread; NULL: none.
	void (*on_folder)(void *ctx, const struct folder *folder, struct place_folder *open);
	void *folder_ctx;
	struct walk_watch watch;
};

// Scans all platforms of a registered store, in the calling thread and options->threads more. On -1 what was committed
// stays, and the next scan continues from there. ERR_BUSY where another indexer is at work (no_wait) or the scan was
// cancelled; ERR_IO where something could not be read: all else was done, and the summary has the list; errors of
// catalog.h. *summary is filled in any case; the caller releases it.
int scan_run(struct store *store, struct catalog *catalog, const struct scan_options *options, struct summary *summary,
	struct err *e) MUST_CHECK;
