// SPDX-License-Identifier: Apache-2.0
// The scans of a server's store: of all, repeatedly, and of what has changed, as soon as the file system tells, each in
// a thread of its own. Functions are for one thread at a time, unless they say "Any thread".
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "indexer/walk/walk.h"
#include "indexer/watch/store-watch.h"
#include "lib/state/config/config.h"

struct store_scans;

struct store_scans_state {
	bool is_running;
	bool has_failed; // the last scan that ended
	bool has_looked; // a scan is complete: it looked at each platform, readable or not
	bool is_hurried; // a scan is wanted soon
	int64_t ended;   // seconds since 1970, of the last scan without error; 0: none
};

// What is seen of changes in the store without a scan of all.
struct store_scans_watch {
	bool is_on;
	struct store_watch_counts seen;
	uint64_t scans;     // of what had changed,
	uint64_t fruitless; // and how many of them changed nothing in the catalog
	double lag;         // seconds from the first change until the last of these scans had ended
	double longest_lag; // the longest of these times
};

struct store_scans_options {
	struct config *config;     // its contents are taken: it is empty then
	const char *catalog_path;  // borrowed for the call
	void (*on_end)(void *ctx); // after each scan of all, in its thread; NULL: none
	// Of the first scan of all; and when that has ended. NULL: none.
	void (*progress)(void *ctx, const struct walk_progress *progress);
	void (*end_progress)(void *ctx);
	void *ctx;
};

// The caller frees the result.
struct store_scans *store_scans_new(const struct store_scans_options *options);
// Starts the thread, which scans after so many milliseconds. The state says at once that it is running.
void store_scans_start(struct store_scans *s, int64_t first_ms);
// Uses this configuration from the next scan of all on. Takes its contents.
void store_scans_configure(struct store_scans *s, struct config *config);
// Scans all at once, or after the current scan. Any thread, started or not.
void store_scans_wake(struct store_scans *s);
// Scans all soon, after the pause that limits the load. Clients may cause many such calls. Any thread, started or not.
void store_scans_hurry(struct store_scans *s);
// Any thread.
struct store_scans_state store_scans_state(struct store_scans *s);
struct store_scans_watch store_scans_watch(struct store_scans *s);
bool store_scans_watches(struct store_scans *s, const char *platform, const char **silent); // as store_watch_has
// Cancels the current scans and waits for the threads. No on_end follows. NULL is allowed.
void store_scans_stop(struct store_scans *s);
void store_scans_free(struct store_scans *s); // after _stop; NULL is allowed
