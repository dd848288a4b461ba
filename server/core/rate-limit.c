// SPDX-License-Identifier: Apache-2.0
#include "server/core/rate-limit.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <sys/random.h>

#include "lib/base/mem.h"
#include "lib/base/str.h"
#include "lib/net/address.h"

enum { SLOTS = 1024 };

// The generic cell rate algorithm: the time at which all tries of a slot are made up for.
struct rate_limit {
	int64_t at_once, each_ms;
	uint64_t seed; // secret, so that a client cannot choose another one's slot
	_Atomic int64_t free_at[SLOTS];
};

struct rate_limit *rate_limit_new(unsigned at_once, unsigned each_ms)
{
	struct rate_limit *t = xcalloc(1, sizeof(*t));
	t->at_once = at_once;
	t->each_ms = each_ms;
	if (getrandom(&t->seed, sizeof(t->seed), 0) != (ssize_t)sizeof(t->seed))
		t->seed = (uintptr_t)t;
	return t;
}

void rate_limit_free(struct rate_limit *t)
{
	free(t);
}

static uint64_t hash_peer(const struct rate_limit *t, const char *peer)
{
	uint8_t address[ADDRESS_SIZE];
	if (!address_read(str_from(peer), address))
		return str_hash(str_from(peer), t->seed);
	address_client(peer, address);
	return str_hash((struct str){(const char *)address, ADDRESS_SIZE}, t->seed);
}

int64_t rate_limit_take(struct rate_limit *t, const char *peer, unsigned tries, int64_t now)
{
	_Atomic int64_t *slot = &t->free_at[hash_peer(t, peer) % SLOTS];
	int64_t old = atomic_load(slot), next;
	do {
		next = (old > now ? old : now) + (int64_t)tries * t->each_ms;
		if (next - now > t->at_once * t->each_ms)
			return next - now - t->at_once * t->each_ms;
	} while (!atomic_compare_exchange_weak(slot, &old, next));
	return 0;
}
