// SPDX-License-Identifier: Apache-2.0
// Bulkheaded worker pools: a job that hangs in one pool delays no other pool. Most pools have a few threads and run
// jobs in order. The pools for expensive requests have a bounded fair_queue, which clients share by address and token.
// Any thread, also from jobs.
#pragma once

#include <stdbool.h>

#include "lib/os/thread-pool.h"
#include "server/message/share.h"

enum {
	WORKER_POOLS = 12,                   // for all other requests
	WORKER_POOL_SEARCHES = WORKER_POOLS, // requests that read much of the catalog
	WORKER_POOL_SUMMARIES,               // answers that are made for each request
	WORKER_POOL_COUNT,
};

struct worker_pool;
struct worker_pools;

// searches: number of jobs of each pool with a queue that run at once. places: of each pool; NULL: none.
struct worker_pools *worker_pools_new(const char *name, unsigned searches, const struct share_options *places);
void worker_pools_free(struct worker_pools *l); // runs the jobs that wait; NULL is fine
// number: WORKER_POOL_SEARCHES, WORKER_POOL_SUMMARIES, or any other, which is taken modulo WORKER_POOLS.
struct worker_pool *worker_pools_pick(struct worker_pools *l, unsigned number);
// Whether its requests are expensive: they wait in a fair_queue.
bool worker_pool_is_costly(const struct worker_pool *pool);
struct worker_job {
	thread_pool_fn *run;
	thread_pool_fn *refuse; // instead of run, on any thread: the job waited, and another client got its place
	void *ctx;
	const char *peer, *token; // the client's address; the name of its token, or NULL
};
// False: too many jobs wait.
bool worker_pool_submit(struct worker_pool *pool, const struct worker_job *job) __attribute__((warn_unused_result));
// The same without fair_queue, for a job that must not be refused.
void worker_pool_submit_always(struct worker_pool *pool, thread_pool_fn *fn, void *job);
// The places for what needs many jobs, such as an upload, so that a pool that hangs does not collect all connections.
// NULL: the pools were made without places.
struct share_pool *worker_pool_places(const struct worker_pool *pool);
