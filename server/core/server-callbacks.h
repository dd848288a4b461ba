// SPDX-License-Identifier: Apache-2.0
// The callbacks from a server into its process, which scans the store. Any thread calls them; they do not block, unless
// they say so.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "server/core/plan-check.h"

// The state of the scans, for /-/health and the home page.
struct server_callbacks_scans {
	bool is_running;
	bool has_failed;      // the last scan that ended
	bool has_looked;      // a scan is complete: it looked at each platform, readable or not
	int64_t ended;        // seconds since 1970, of the last scan without error; 0: none
};

// What is seen of changes in the store without a scan of all.
struct server_callbacks_watch {
	bool is_on;
	uint64_t folders;   // that are watched
	uint64_t refused;   // for which the system has no watch left
	uint64_t overflows; // how often the kernel dropped events
	uint64_t floods;    // how often so much changed that the whole store was to be scanned
	uint64_t scans;     // of what had changed,
	uint64_t fruitless; // and how many of them changed nothing in the catalog
	double lag;         // seconds from the first change until the last of these scans had ended
	double longest_lag; // the longest of these times
};

struct server_callbacks {
	void (*get_scans)(void *ctx, struct server_callbacks_scans *out);
	// A file differs from the catalog: a scan is needed. Clients can cause this often.
	void (*on_stale)(void *ctx);
	// NULL: there is no watch.
	void (*get_watch)(void *ctx, struct server_callbacks_watch *out);
	// Whether a platform is watched. *silent: the name of its file system if that tells nothing of changes, else NULL.
	// Not called where get_watch is NULL.
	bool (*is_watched)(void *ctx, const char *platform, const char **silent);
	// Blocks while it reads the catalog and the lists of the policy: for worker threads. NULL: plans are not checked.
	plan_check_fn *check_plan;
	void *ctx;
};
