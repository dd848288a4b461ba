// SPDX-License-Identifier: Apache-2.0
// Workers in lanes: what hangs in one holds up no other. Most have a few threads each, and take what comes in its order. Those of
// requests that cost much have one thread each and a bounded queue that is fair between addresses (queue). Thread-safe.
#pragma once

#include <stdbool.h>

#include "lib/os/thread-pool.h"

enum {
	WORKER_POOLS = 12,
	WORKER_POOL_SEARCHES = WORKER_POOLS, // what reads much of the catalog
	WORKER_POOL_SUMMARIES,               // what is made anew for each who asks
	WORKER_POOL_COUNT,
};

struct worker_pool;
struct worker_pools;

struct worker_pools *worker_pools_new(const char *name);
void worker_pools_free(struct worker_pools *l); // waits for what is to be done; NULL is fine
// number may be any: there are WORKER_POOLS of them, and those that have a name.
struct worker_pool *worker_pools_pick(struct worker_pools *l, unsigned number);
// peer: the address of whom it is for. False where so many wait already.
bool worker_pool_submit(struct worker_pool *pool, const char *peer, thread_pool_fn *fn, void *job)
	__attribute__((warn_unused_result));
// The same past every queue, for what must not be refused.
void worker_pool_submit_always(struct worker_pool *pool, thread_pool_fn *fn, void *job);
// What stays for many jobs says so, that a pool that hangs does not gather all there is. False where so many are there.
bool worker_pool_enter(struct worker_pool *pool, unsigned most);
void worker_pool_leave(struct worker_pool *pool);
