// SPDX-License-Identifier: Apache-2.0
// A pool of threads that take jobs from one queue.
#pragma once

#include <stdbool.h>
#include <stddef.h>

typedef void pool_fn(void *job);

enum pool_order {
	POOL_FIRST_IN_FIRST_OUT, // fair: requests
	POOL_LAST_IN_FIRST_OUT,  // small: walking a tree depth first keeps the queue short
};

struct pool;

struct pool *pool_new(unsigned threads, enum pool_order order, const char *name);
// Any thread, also a job of the pool itself. job belongs to fn from then on.
void pool_submit(struct pool *p, pool_fn *fn, void *job);
// The work of the calling thread, in a pool or not, can wait: where processors are scarce others go first, by so much (nice(2)).
// Who holds a lock, or has somebody wait in the end, is not to ask for much.
void pool_give_way(int nice);
// Waits until no job waits or runs. Not from within a job.
void pool_drain(struct pool *p);
// Drains, ends the threads, frees. NULL is fine.
void pool_free(struct pool *p);
