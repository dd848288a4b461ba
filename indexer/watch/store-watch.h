// SPDX-License-Identifier: Apache-2.0
// Watches the folders of a store, and collects what has changed in them. Its own thread reads the events.
//
// Scans add the folders, in rounds: a scan of all is a round, and adds each folder before it lists it. A folder that is
// new is added by the scan of what has changed. Not watched: folders on file systems that report nothing
// (silent_fs_name), and those for which the system has no watch left; the next scan of all sees their changes.
//
// Any thread may call all functions but store_watch_new and store_watch_free.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "indexer/walk/folder.h"
#include "indexer/walk/store-changes.h"
#include "lib/base/err.h"
#include "lib/state/store/store.h"

struct store_watch;

// on_change is called in the thread of the watch, without a lock, when something has changed.
struct store_watch *store_watch_new(void (*on_change)(void *ctx), void *ctx, struct err *e) MUST_CHECK;
void store_watch_free(struct store_watch *w); // NULL is fine

// Begins a round, and watches the top of a store whose folders are platforms. views: the folder of memberships, which
// answers; NULL: none. store NULL: nothing is watched any longer.
void store_watch_begin(struct store_watch *w, const struct store *store, const char *views);
// For scan_options.on_folder; w is a struct store_watch.
void store_watch_folder(void *w, const struct folder *folder, struct place_folder *open);
// Ends the round of a scan that has visited all that it could; logs once what is not watched.
void store_watch_end(struct store_watch *w);

enum store_watch_due { STORE_WATCH_NOTHING = -1 };
// Milliseconds until what has changed is to be taken: it waits for a burst to end, but not for long.
// STORE_WATCH_NOTHING: nothing has changed.
int64_t store_watch_due(struct store_watch *w);

struct store_watch_taken {
	struct store_changes changes; // to be released
	bool has_views;               // a file of a membership came; the folders of views are watched again
	int64_t since_ms;             // the oldest change, by clock_ms()
};
void store_watch_take(struct store_watch *w, struct store_watch_taken *out);

struct store_watch_counts {
	uint64_t folders;   // that are watched
	uint64_t refused;   // for which the system has no watch left
	uint64_t overflows; // how often the kernel dropped events
	uint64_t floods;    // how often so much changed that the whole store is to be scanned
};
void store_watch_count(struct store_watch *w, struct store_watch_counts *out);
// Whether the folder of a platform is watched. *silent: the name of its file system if that tells nothing, else NULL.
bool store_watch_has(struct store_watch *w, const char *platform, const char **silent);
