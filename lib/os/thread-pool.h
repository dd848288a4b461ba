// SPDX-License-Identifier: Apache-2.0
// Threads that run jobs from one queue, which has no limit. A thread begins when a job finds none that is free, up to a
// fixed number, and stays: a server has pools for a hundred threads, and most never have work for them.
#pragma once

#include <stdbool.h>
#include <stddef.h>

typedef void thread_pool_fn(void *job);

enum thread_pool_order {
	THREAD_POOL_FIRST_IN_FIRST_OUT, // fair, for requests
	THREAD_POOL_LAST_IN_FIRST_OUT,  // keeps the queue short when jobs add jobs, as a walk of a tree does
};

struct thread_pool;

// At most so many threads, with all signals blocked but those of their own faults. name is what the system shows for
// each of them (15 bytes at most).
struct thread_pool *thread_pool_new(unsigned threads, enum thread_pool_order order, const char *name);
// Queues fn(job). Any thread, also one of the pool's. fn owns job from then on. Where the system gives the pool not
// even one thread, the process ends.
void thread_pool_submit(struct thread_pool *p, thread_pool_fn *fn, void *job);
// Lowers the priority of the calling thread, which need not belong to a pool, to this nice value (nice(2)). A thread
// that holds a lock delays others, so it should not be lowered much.
void thread_pool_set_nice(int nice);
// Waits until the queue is empty and no job runs. Any thread that is not one of the pool's.
void thread_pool_drain(struct thread_pool *p);
// Drains the queue, ends the threads and frees the pool. NULL is fine. No other thread may use the pool any more.
void thread_pool_free(struct thread_pool *p);
