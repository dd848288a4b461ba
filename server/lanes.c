// SPDX-License-Identifier: Apache-2.0
#include "server/lanes.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "lib/base/mem.h"

enum { LANE_THREADS = 4 };

struct lane {
	struct pool *pool;
	atomic_uint guests;
};

struct lanes {
	struct lane lane[LANES];
};

struct lanes *lanes_new(const char *name)
{
	struct lanes *l = xcalloc(1, sizeof(*l));
	for (size_t i = 0; i < LANES; i++) {
		l->lane[i].pool = pool_new(LANE_THREADS, POOL_FIRST_IN_FIRST_OUT, name);
		atomic_init(&l->lane[i].guests, 0);
	}
	return l;
}

void lanes_free(struct lanes *l)
{
	for (size_t i = 0; l && i < LANES; i++)
		pool_free(l->lane[i].pool);
	free(l);
}

struct lane *lanes_pick(struct lanes *l, unsigned number)
{
	return &l->lane[number % LANES];
}

void lane_submit(struct lane *lane, pool_fn *fn, void *job)
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
