// SPDX-License-Identifier: Apache-2.0
// Scans a store again and again in a thread of its own, while a server serves it.
#pragma once

#include <stdbool.h>

#include "lib/base/err.h"
#include "lib/state/config.h"

struct scanner;

// What happened, told from the scanner's thread: a scan began, or ended. failed: why, NULL where it did not.
struct scanner_events {
	void (*began)(void *ctx);
	void (*ended)(void *ctx, const char *failed);
	void *ctx;
};

// Begins with a scan at once, and shows that one on the terminal where is_shown. Takes the configuration over: what it
// held is empty after.
struct scanner *scanner_start(struct config *config, const char *catalog_path, const struct scanner_events *events,
	bool is_shown);
// Scans with this configuration from the next scan on. Takes it over.
void scanner_configure(struct scanner *s, struct config *config);
// Scans soon, whatever the interval. Any thread.
void scanner_wake(struct scanner *s);
// Ends a scan under way; no event comes after it, and waking it does nothing. NULL is fine.
void scanner_stop(struct scanner *s);
void scanner_free(struct scanner *s); // stopped before; NULL is fine
