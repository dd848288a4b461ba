// SPDX-License-Identifier: Apache-2.0
#include "server/http/worker-pools.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "lib/base/limits.h"
#include "lib/base/mem.h"
#include "server/http/fair-queue.h"

enum { LANE_THREADS = 4 };

struct lane {
	struct pool *pool;
	struct turns *turns; // NULL: all that comes goes to the pool at once
	atomic_uint guests;
};

struct lanes {
	struct lane lane[LANE_COUNT];
};

// A job that waits for its turn.
struct ticket {
	struct turn turn;
	struct lane *lane;
	pool_fn *fn;
	void *job;
};

static void run_ticket(void *job)
{
	struct ticket *t = job;
	struct lane *lane = t->lane;
	t->fn(t->job);
	turns_end(lane->turns, &t->turn);
	free(t);
	turns_run(lane->turns);
}

static void begin_ticket(void *ctx, struct turn *turn)
{
	struct lane *lane = ctx;
	pool_submit(lane->pool, run_ticket, (char *)turn - offsetof(struct ticket, turn));
}

struct lanes *lanes_new(const char *name)
{
	struct lanes *l = xcalloc(1, sizeof(*l));
	for (size_t i = 0; i < LANE_COUNT; i++) {
		struct lane *lane = &l->lane[i];
		bool has_turns = i >= LANES;
		lane->pool = pool_new(has_turns ? 1 : LANE_THREADS, POOL_FIRST_IN_FIRST_OUT, name);
		const struct turns_options options = {
			.under_way = 1, .waiting = LIMIT_SEARCHES_WAITING, .begin = begin_ticket, .ctx = lane};
		lane->turns = has_turns ? turns_new(&options) : NULL;
		atomic_init(&lane->guests, 0);
	}
	return l;
}

void lanes_free(struct lanes *l)
{
	for (size_t i = 0; l && i < LANE_COUNT; i++) {
		pool_free(l->lane[i].pool);
		turns_free(l->lane[i].turns);
	}
	free(l);
}

struct lane *lanes_pick(struct lanes *l, unsigned number)
{
	return &l->lane[number < LANE_COUNT ? number : number % LANES];
}

bool lane_submit(struct lane *lane, const char *peer, pool_fn *fn, void *job)
{
	if (!lane->turns) {
		pool_submit(lane->pool, fn, job);
		return true;
	}
	struct ticket *t = xcalloc(1, sizeof(*t));
	*t = (struct ticket){.lane = lane, .fn = fn, .job = job};
	if (!turns_enter(lane->turns, &t->turn, peer, 1)) {
		free(t);
		return false;
	}
	turns_run(lane->turns);
	return true;
}

void lane_submit_always(struct lane *lane, pool_fn *fn, void *job)
{
	pool_submit(lane->pool, fn, job);
}

bool lane_enter(struct lane *lane, unsigned most)
{
	bool has_room = atomic_fetch_add(&lane->guests, 1) < most;
	if (!has_room)
		lane_leave(lane);
	return has_room;
}

void lane_leave(struct lane *lane)
{
	atomic_fetch_sub(&lane->guests, 1);
}
