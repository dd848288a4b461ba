// SPDX-License-Identifier: Apache-2.0
// Defers work until a burst of it is over, so that processors and disk serve the waiting clients first. An install
// asks for many projects in a burst. Any thread may call any function; the caller owns the struct.
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	DEBOUNCE_PAUSE_MS = 200, // a burst is over when nothing was added for so long
	DEBOUNCE_PAUSES = 5,     // no work is deferred for more pauses than these
	DEBOUNCE_MOST = 32,      // nothing is deferred while pending work weighs so much
};

struct debounce {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	int64_t pause_ms, last_added_ms;
	int64_t pending_since_ms; // when pending became more than 0
	size_t pending, most;     // weights
	bool is_closed;
};

// The weight of a piece of work: one, and one more for each MiB.
static inline size_t debounce_weight(uint64_t bytes)
{
	return 1 + (size_t)(bytes >> 20);
}

// most: debounce_wait() returns at once while pending work weighs so much.
void debounce_init(struct debounce *d, int64_t pause_ms, size_t most);
// No thread may be in debounce_wait() any more.
void debounce_destroy(struct debounce *d);
// Work was queued.
void debounce_add(struct debounce *d, size_t weight);
// Work was taken from the queue, or is done.
void debounce_remove(struct debounce *d, size_t weight);
// Blocks until the burst is over, too much work is pending, the work was deferred for long enough, or debounce_close()
// is called.
void debounce_wait(struct debounce *d);
// From now on debounce_wait() returns at once.
void debounce_close(struct debounce *d);
