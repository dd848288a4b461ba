// SPDX-License-Identifier: Apache-2.0
// Counts the files that were sent whole, in memory: what answers a request adds one to a number, and that is all. A
// thread adds the numbers to the file of downloads (lib/state/access/downloads.h) now and then, and once at the end; what was
// counted since is lost where the process is killed.
#pragma once

#include <stdatomic.h>
#include <stdbool.h>

#include "lib/base/str.h"

struct download_counter;

// The number of one file, shared by its replies.
struct download_count {
	_Atomic uint32_t sent; // since it was written last
	_Atomic unsigned owners;
	uint32_t taken; // of sent, by who writes it
	struct download_count *next;
	char key[]; // "platform/file name"
};

// The file is there from now on, if it can be: it says since when is counted.
struct download_counter *download_counter_start(const char *catalog_path, unsigned period_ms);
void download_counter_stop(struct download_counter *t); // NULL is fine. References may outlive it
// A reference, to be given back; NULL where it is not counted: t is NULL, the name is odd, or there are too many that
// could not be written. Takes a lock: for workers. The other functions may be called by any thread.
struct download_count *download_counter_of(struct download_counter *t, const char *platform, struct str filename);
struct download_count *download_counter_ref(struct download_count *count); // NULL is fine, also below
void download_counter_unref(struct download_count *count);
static inline void download_counter_raise(struct download_count *count)
{
	if (count)
		atomic_fetch_add_explicit(&count->sent, 1, memory_order_relaxed);
}
// Adds to the file what was counted so far. What cannot be written stays counted.
void download_counter_write(struct download_counter *t);
