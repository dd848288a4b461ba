// SPDX-License-Identifier: Apache-2.0
// Counts the files that were sent whole, in memory: what answers a request adds one to a number, and that is all. A
// thread adds the numbers to the file of downloads (lib/state/access/downloads.h) now and then, and once at the end; what was
// counted since is lost where the process is killed.
#pragma once

#include <stdatomic.h>
#include <stdbool.h>

#include "lib/base/str.h"

struct meter;

// The number of one file, shared by its replies.
struct meter_count {
	_Atomic uint32_t sent; // since it was written last
	_Atomic unsigned owners;
	uint32_t taken; // of sent, by who writes it
	struct meter_count *next;
	char key[]; // "platform/file name"
};

// The file is there from now on, if it can be: it says since when is counted.
struct meter *meter_start(const char *catalog_path, unsigned period_ms);
void meter_stop(struct meter *t); // NULL is fine. References may outlive it
// A reference, to be given back; NULL where it is not counted: t is NULL, the name is odd, or there are too many that
// could not be written. Takes a lock: for workers. The other functions may be called by any thread.
struct meter_count *meter_of(struct meter *t, const char *platform, struct str filename);
struct meter_count *meter_ref(struct meter_count *count); // NULL is fine, also below
void meter_unref(struct meter_count *count);
static inline void meter_raise(struct meter_count *count)
{
	if (count)
		atomic_fetch_add_explicit(&count->sent, 1, memory_order_relaxed);
}
// Adds to the file what was counted so far. What cannot be written stays counted.
void meter_write(struct meter *t);
