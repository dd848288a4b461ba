// SPDX-License-Identifier: Apache-2.0
// The callbacks from a server into its process, which scans the store. Any thread calls them; they do not block.
#pragma once

#include <stdbool.h>
#include <stdint.h>

// The state of the scans, for /-/health and the home page.
struct server_callbacks_scans {
	bool is_running;
	bool has_failed;      // the last scan that ended
	bool has_looked;      // a scan is complete: it looked at each platform, readable or not
	uint64_t quarantined; // files that the last ended scan has quarantined
	int64_t ended;        // seconds since 1970, of the last scan without error; 0: none
};

struct server_callbacks {
	void (*get_scans)(void *ctx, struct server_callbacks_scans *out);
	// A file differs from the catalog: a scan is needed. Clients can cause this often.
	void (*on_stale)(void *ctx);
	void *ctx;
};
