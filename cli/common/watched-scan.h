// SPDX-License-Identifier: Apache-2.0
// Looks at what has changed in a store as soon as the file system tells, for "wheelcache serve", in a thread of its own.
// It works beside the scans of all (background-scan), which say what is watched. What it cannot decide, or what is too
// much, is left to such a scan, which it asks for.
#pragma once

#include <stdatomic.h>
#include <stdbool.h>

#include "indexer/scan/scan.h"
#include "lib/state/config/config.h"
#include "lib/state/store/store.h"
#include "server/core/server-callbacks.h"

struct hook_queue;
struct watched_scan;

// wants_whole: asks for a scan of all; any thread calls it. cancel: ends a scan under way soon. hooks: of
// [index] on-change, borrowed. The caller frees the result.
struct watched_scan *watched_scan_new(const char *catalog_path, void (*wants_whole)(void *ctx), void *ctx,
	const _Atomic bool *cancel, struct hook_queue *hooks);
// The thread that scans all calls these two before and after each scan of a registered store. begin sets what the scan
// calls for each folder.
void watched_scan_begin(struct watched_scan *w, const struct config *config, const struct store *store,
	struct scan_options *options);
// has_looked: the scan has visited all that it could. Then it takes the store's content, and changes are looked at.
void watched_scan_end(struct watched_scan *w, struct store *store, bool has_looked);
// Any thread.
void watched_scan_state(struct watched_scan *w, struct server_callbacks_watch *out);
bool watched_scan_has(struct watched_scan *w, const char *platform, const char **silent); // as store_watch_has
// Waits for a scan under way. NULL is fine.
void watched_scan_stop(struct watched_scan *w);
void watched_scan_free(struct watched_scan *w); // after _stop; NULL is fine
