// SPDX-License-Identifier: Apache-2.0
// What the process around a server does for it: it fills the catalog. Called from any thread.
#pragma once

#include <stdbool.h>
#include <stdint.h>

// The scans of the store, for /-/health and the page for people.
struct server_callbacks_scans {
	bool is_running;
	bool has_failed;      // the last one that ended
	bool has_looked;      // one came to its end: each platform was looked at, whether it could be read or not
	uint64_t quarantined; // files, at that one
	int64_t ended;        // seconds since 1970, of the last one that went well; 0: none has
};

struct server_callbacks {
	void (*get_scans)(void *ctx, struct server_callbacks_scans *out);
	// A file on the disk is not what the catalog says: somebody should scan. Clients can make this come often.
	void (*on_stale)(void *ctx);
	void *ctx;
};
