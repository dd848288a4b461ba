// SPDX-License-Identifier: Apache-2.0
// Work that can wait for a lull: it leaves the processors and the disk to those who wait for an answer. What comes in a
// burst, as an install asks for it, is done when the burst is over. Thread-safe.
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	LULL_PAUSE_MS = 200, // so long nothing comes
	LULL_PAUSES = 5,     // work waits for so many pauses at most
	LULL_MOST = 32,      // pieces of work, and MiB of them, that wait at all
};

struct lull {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	int64_t pause_ms, came_ms;
	int64_t pending_ms; // since when something is pending
	size_t pending, most;
	bool is_closed;
};

// What a piece of work counts: one, and one more for each MiB of it.
static inline size_t lull_weight(uint64_t bytes)
{
	return 1 + (size_t)(bytes >> 20);
}

// A lull is when nothing came for pause_ms. most: where so much is pending nobody waits for one.
void lull_init(struct lull *l, int64_t pause_ms, size_t most);
void lull_destroy(struct lull *l);
void lull_came(struct lull *l, size_t weight); // it is to be done
void lull_done(struct lull *l, size_t weight);
// Returns in a lull, or where too much is pending, or for too long, or after lull_close().
void lull_wait(struct lull *l);
void lull_close(struct lull *l); // from now on nobody waits
