// SPDX-License-Identifier: Apache-2.0
#include "server/lanes.h"

#include <stdlib.h>

#include "lib/base/mem.h"

enum { LANE_THREADS = 4 };

struct lanes {
	struct pool *pool[LANES];
};

struct lanes *lanes_new(const char *name)
{
	struct lanes *l = xcalloc(1, sizeof(*l));
	for (size_t i = 0; i < LANES; i++)
		l->pool[i] = pool_new(LANE_THREADS, POOL_FIRST_IN_FIRST_OUT, name);
	return l;
}

void lanes_free(struct lanes *l)
{
	for (size_t i = 0; l && i < LANES; i++)
		pool_free(l->pool[i]);
	free(l);
}

struct pool *lanes_pick(struct lanes *l, unsigned number)
{
	return l->pool[number % LANES];
}
