// SPDX-License-Identifier: Apache-2.0
// Scans a store again and again in a thread of its own, while a server serves it.
#pragma once

#include <stdbool.h>

#include "lib/base/err.h"
#include "lib/state/config/config.h"
#include "server/core/server-callbacks.h"

struct scanner;

// Begins with a scan at once, and shows that one on the terminal where is_shown. on_end is called from the scanner's
// thread after each scan. Takes the configuration over: what it held is empty after.
struct scanner *scanner_new(struct config *config, const char *catalog_path, void (*on_end)(void *ctx), void *ctx,
	bool is_shown);
void scanner_start(struct scanner *s);
// Scans with this configuration from the next scan on. Takes it over.
void scanner_configure(struct scanner *s, struct config *config);
// Scans at once, or when the scan under way has ended. Any thread, started or not.
void scanner_wake(struct scanner *s);
// Scans soon, but keeps the pause that spares the machine: what clients see may ask for it, again and again.
void scanner_hurry(struct scanner *s);
// How it stands. Any thread.
struct host_scans scanner_state(struct scanner *s);
// Ends a scan under way; no event comes after it, and waking it does nothing. NULL is fine.
void scanner_stop(struct scanner *s);
void scanner_free(struct scanner *s); // stopped before; NULL is fine
