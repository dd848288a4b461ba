// SPDX-License-Identifier: Apache-2.0
// A pool of threads that take jobs from one queue.
#pragma once

#include <stdbool.h>
#include <stddef.h>

typedef void thread_pool_fn(void *job);

enum thread_pool_order {
	THREAD_POOL_FIRST_IN_FIRST_OUT, // fair: requests
	THREAD_POOL_LAST_IN_FIRST_OUT,  // small: walking a tree depth first keeps the queue short
};

struct thread_pool;

struct thread_pool *thread_pool_new(unsigned threads, enum thread_pool_order order, const char *name);
// Any thread, also a job of the pool itself. job belongs to fn from then on.
void thread_pool_submit(struct thread_pool *p, thread_pool_fn *fn, void *job);
// The work of the calling thread, in a pool or not, can wait: where processors are scarce others go first, by so much (nice(2)).
// Who holds a lock, or has somebody wait in the end, is not to ask for much.
void thread_pool_give_way(int nice);
// Waits until no job waits or runs. Not from within a job.
void thread_pool_drain(struct thread_pool *p);
// Drains, ends the threads, frees. NULL is fine.
void thread_pool_free(struct thread_pool *p);
