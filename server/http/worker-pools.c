// SPDX-License-Identifier: Apache-2.0
#include "server/http/worker-pools.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "lib/base/limits.h"
#include "lib/base/mem.h"
#include "server/http/fair-queue.h"

enum { LANE_THREADS = 4 };

struct worker_pool {
	struct thread_pool *pool;
	struct fair_queue *turns; // NULL: all that comes goes to the pool at once
	atomic_uint guests;
};

struct worker_pools {
	struct worker_pool lane[LANE_COUNT];
};

// A job that waits for its turn.
struct ticket {
	struct fair_queue_entry turn;
	struct worker_pool *lane;
	thread_pool_fn *fn;
	void *job;
};

static void run_ticket(void *job)
{
	struct ticket *t = job;
	struct worker_pool *lane = t->lane;
	t->fn(t->job);
	fair_queue_end(lane->turns, &t->turn);
	free(t);
	fair_queue_run(lane->turns);
}

static void begin_ticket(void *ctx, struct fair_queue_entry *turn)
{
	struct worker_pool *lane = ctx;
	thread_pool_submit(lane->pool, run_ticket, (char *)turn - offsetof(struct ticket, turn));
}

struct worker_pools *worker_pools_new(const char *name)
{
	struct worker_pools *l = xcalloc(1, sizeof(*l));
	for (size_t i = 0; i < LANE_COUNT; i++) {
		struct worker_pool *lane = &l->lane[i];
		bool has_turns = i >= WORKER_POOLS;
		lane->pool = thread_pool_new(has_turns ? 1 : LANE_THREADS, THREAD_POOL_FIRST_IN_FIRST_OUT, name);
		const struct fair_queue_options options = {
			.under_way = 1, .waiting = LIMIT_SEARCHES_WAITING, .begin = begin_ticket, .ctx = lane};
		lane->turns = has_turns ? fair_queue_new(&options) : NULL;
		atomic_init(&lane->guests, 0);
	}
	return l;
}

void worker_pools_free(struct worker_pools *l)
{
	for (size_t i = 0; l && i < LANE_COUNT; i++) {
		thread_pool_free(l->lane[i].pool);
		fair_queue_free(l->lane[i].turns);
	}
	free(l);
}

struct worker_pool *worker_pools_pick(struct worker_pools *l, unsigned number)
{
	return &l->lane[number < LANE_COUNT ? number : number % WORKER_POOLS];
}

bool worker_pool_submit(struct worker_pool *lane, const char *peer, thread_pool_fn *fn, void *job)
{
	if (!lane->turns) {
		thread_pool_submit(lane->pool, fn, job);
		return true;
	}
	struct ticket *t = xcalloc(1, sizeof(*t));
	*t = (struct ticket){.lane = lane, .fn = fn, .job = job};
	if (!fair_queue_enter(lane->turns, &t->turn, peer, 1)) {
		free(t);
		return false;
	}
	fair_queue_run(lane->turns);
	return true;
}

void lane_submit_always(struct worker_pool *lane, thread_pool_fn *fn, void *job)
{
	thread_pool_submit(lane->pool, fn, job);
}

bool worker_pool_enter(struct worker_pool *lane, unsigned most)
{
	bool has_room = atomic_fetch_add(&lane->guests, 1) < most;
	if (!has_room)
		worker_pool_leave(lane);
	return has_room;
}

void worker_pool_leave(struct worker_pool *lane)
{
	atomic_fetch_sub(&lane->guests, 1);
}
