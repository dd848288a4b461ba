// SPDX-License-Identifier: Apache-2.0
#include "server/core/rate-limit.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

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

// --- evidence ---

enum {
	QUOTA_DAY = 86400,
	QUOTA_BLOCK = 4096, // a record is a file, and a file takes whole blocks of the disk
};

struct quota_user {
	char *token;
	uint64_t bytes;
};

// A token that sends a record is known, so there are as many users as tokens at most, and a new day begins without any.
struct evidence_quota {
	pthread_mutex_t lock;
	int64_t day;
	struct quota_user *user;
	size_t users, room;
};

struct evidence_quota *evidence_quota_new(void)
{
	struct evidence_quota *q = xcalloc(1, sizeof(*q));
	pthread_mutex_init(&q->lock, NULL);
	return q;
}

static void forget_users(struct evidence_quota *q)
{
	while (q->users)
		free(q->user[--q->users].token);
}

void evidence_quota_free(struct evidence_quota *q)
{
	if (!q)
		return;
	forget_users(q);
	free(q->user);
	pthread_mutex_destroy(&q->lock);
	free(q);
}

static struct quota_user *find_user(struct evidence_quota *q, const char *token)
{
	for (size_t i = 0; i < q->users; i++)
		if (strcmp(q->user[i].token, token) == 0)
			return &q->user[i];
	GROW(q->user, q->users, q->room);
	q->user[q->users] = (struct quota_user){.token = xstrdup(token)};
	return &q->user[q->users++];
}

int64_t evidence_quota_take(struct evidence_quota *q, const char *token, uint64_t bytes, uint64_t most, int64_t now)
{
	bytes += (QUOTA_BLOCK - bytes % QUOTA_BLOCK) % QUOTA_BLOCK;
	pthread_mutex_lock(&q->lock);
	if (now / QUOTA_DAY > q->day) { // a clock that is set back gives nobody more
		forget_users(q);
		q->day = now / QUOTA_DAY;
	}
	struct quota_user *user = find_user(q, token);
	bool has_room = bytes <= most && user->bytes <= most - bytes;
	user->bytes += has_room ? bytes : 0;
	int64_t wait = has_room ? 0 : (q->day + 1) * QUOTA_DAY - now;
	pthread_mutex_unlock(&q->lock);
	return wait;
}
