// SPDX-License-Identifier: Apache-2.0
// Work that can wait for a lull: it leaves the processors and the disk to those who wait for an answer. What comes in a
// burst, as an install asks for it, is done when the burst is over. Thread-safe.
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	DEBOUNCE_PAUSE_MS = 200, // so long nothing comes
	DEBOUNCE_PAUSES = 5,     // work waits for so many pauses at most
	DEBOUNCE_MOST = 32,      // pieces of work, and MiB of them, that wait at all
};

struct debounce {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	int64_t pause_ms, came_ms;
	int64_t pending_ms; // since when something is pending
	size_t pending, most;
	bool is_closed;
};

// What a piece of work counts: one, and one more for each MiB of it.
static inline size_t debounce_weight(uint64_t bytes)
{
	return 1 + (size_t)(bytes >> 20);
}

// A lull is when nothing came for pause_ms. most: where so much is pending nobody waits for one.
void debounce_init(struct debounce *l, int64_t pause_ms, size_t most);
void debounce_destroy(struct debounce *l);
void debounce_came(struct debounce *l, size_t weight); // it is to be done
void debounce_done(struct debounce *l, size_t weight);
// Returns in a lull, or where too much is pending, or for too long, or after debounce_close().
void debounce_wait(struct debounce *l);
void debounce_close(struct debounce *l); // from now on nobody waits
