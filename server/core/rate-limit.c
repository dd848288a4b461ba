// SPDX-License-Identifier: Apache-2.0
#include "server/core/rate-limit.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "lib/base/hash.h"
#include "lib/base/mem.h"
#include "lib/base/str.h"
#include "lib/net/address.h"

enum { SLOTS = 1024 };

// The generic cell rate algorithm: the time at which all tries of a slot are made up for.
struct rate_limit {
	int64_t at_once, each_ms;
	_Atomic int64_t free_at[SLOTS];
};

struct rate_limit *rate_limit_new(unsigned at_once, unsigned each_ms)
{
	struct rate_limit *t = xcalloc(1, sizeof(*t));
	t->at_once = at_once;
	t->each_ms = each_ms;
	return t;
}

void rate_limit_free(struct rate_limit *t)
{
	free(t);
}

// The hash has a secret key: a client cannot choose another one's slot.
static uint64_t hash_peer(const char *peer)
{
	uint8_t address[ADDRESS_SIZE];
	if (!address_read(str_from(peer), address))
		return hash_of(str_from(peer), 0);
	address_client(peer, address);
	return hash_of((struct str){(const char *)address, ADDRESS_SIZE}, 0);
}

int64_t rate_limit_take(struct rate_limit *t, const char *peer, unsigned tries, int64_t now)
{
	_Atomic int64_t *slot = &t->free_at[hash_peer(peer) % SLOTS];
	int64_t old = atomic_load(slot), next;
	do {
		next = (old > now ? old : now) + (int64_t)tries * t->each_ms;
		if (next - now > t->at_once * t->each_ms)
			return next - now - t->at_once * t->each_ms;
	} while (!atomic_compare_exchange_weak(slot, &old, next));
	return 0;
}
