// SPDX-License-Identifier: Apache-2.0
// Scans a store again and again in a thread of its own, while a server serves it.
#pragma once

#include <stdbool.h>

#include "lib/base/err.h"
#include "lib/state/config/config.h"
#include "server/core/server-callbacks.h"

struct background_scan;

// Begins with a scan at once, and shows that one on the terminal where is_shown. on_end is called from the scanner's
// thread after each scan. Takes the configuration over: what it held is empty after.
struct background_scan *background_scan_new(struct config *config, const char *catalog_path, void (*on_end)(void *ctx),
	void *ctx, bool is_shown);
void background_scan_start(struct background_scan *s);
// Scans with this configuration from the next scan on. Takes it over.
void background_scan_configure(struct background_scan *s, struct config *config);
// Scans at once, or when the scan under way has ended. Any thread, started or not.
void background_scan_wake(struct background_scan *s);
// Scans soon, but keeps the pause that spares the machine: what clients see may ask for it, again and again.
void background_scan_hurry(struct background_scan *s);
// How it stands. Any thread.
struct server_callbacks_scans background_scan_state(struct background_scan *s);
// Ends a scan under way; no event comes after it, and waking it does nothing. NULL is fine.
void background_scan_stop(struct background_scan *s);
void background_scan_free(struct background_scan *s); // stopped before; NULL is fine
