// SPDX-License-Identifier: Apache-2.0
// Scans a store repeatedly in a thread of its own, for "wheelcache serve". Functions are for one thread at a time,
// unless they say "Any thread".
#pragma once

#include <stdbool.h>

#include "lib/base/err.h"
#include "lib/state/config/config.h"
#include "server/core/server-callbacks.h"

struct background_scan;
struct watched_scan;

// is_shown: the first scan draws a progress line. on_end is called in the scanner's thread after each scan. Takes the
// contents of config, which is empty afterwards. The caller frees the result.
struct background_scan *background_scan_new(struct config *config, const char *catalog_path, void (*on_end)(void *ctx),
	void *ctx, bool is_shown);
// Starts the thread, which scans at once.
void background_scan_start(struct background_scan *s);
// Uses this configuration from the next scan on. Takes its contents.
void background_scan_configure(struct background_scan *s, struct config *config);
// Scans at once, or after the current scan. Any thread, started or not.
void background_scan_wake(struct background_scan *s);
// Scans soon, after the pause that limits the load. Clients may cause many such calls. Any thread.
void background_scan_hurry(struct background_scan *s);
// The result of the last scan. Any thread.
struct server_callbacks_scans background_scan_state(struct background_scan *s);
// What is seen of changes between scans. Any thread.
struct watched_scan *background_scan_watch(struct background_scan *s);
// Cancels the current scan and waits for the thread. No on_end follows. NULL is allowed.
void background_scan_stop(struct background_scan *s);
void background_scan_free(struct background_scan *s); // after _stop; NULL is allowed
