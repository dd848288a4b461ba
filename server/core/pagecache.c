// SPDX-License-Identifier: Apache-2.0
#include "server/core/pagecache.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/mem.h"
#include "lib/os/clock.h"

enum {
	SHARDS = 16,
	SHARD_BUCKETS = 1024,
	MAKERS = 64,
	DROP_SLOTS = 256,
	LARGEST_SHARE = 4, // one reply may take a quarter of the cache
};

struct plan_entry {
	struct plan_entry *next;          // in its bucket
	struct plan_entry *newer, *older; // in its shard, by last use
	struct reply *reply;
	size_t weight;
	uint64_t hash;
	long expires; // second of the monotonic clock; 0: never
	size_t key_len;
	char key[];
};

struct shard {
	pthread_mutex_t lock;
	struct plan_entry *bucket[SHARD_BUCKETS];
	struct plan_entry *newest, *oldest;
};

struct pagecache {
	size_t limit;
	atomic_size_t used;
	_Atomic uint32_t clears;
	_Atomic uint32_t drops[DROP_SLOTS]; // by the key's hash: what others drop is no concern of a reply
	struct shard shard[SHARDS];
	pthread_mutex_t maker[MAKERS];
};

// Who makes keys collide only crowds out what he made himself.
static uint64_t hash_of(struct str key)
{
	return str_hash(key, 0);
}

static struct shard *shard_of(struct pagecache *c, uint64_t hash)
{
	return &c->shard[hash % SHARDS];
}

static struct plan_entry **slot_of(struct shard *s, uint64_t hash, struct str key)
{
	struct plan_entry **at = &s->bucket[hash / SHARDS % SHARD_BUCKETS];
	while (*at && !((*at)->hash == hash && str_eq((struct str){(*at)->key, (*at)->key_len}, key)))
		at = &(*at)->next;
	return at;
}

static void unlink_use(struct shard *s, struct plan_entry *e)
{
	*(e->newer ? &e->newer->older : &s->newest) = e->older;
	*(e->older ? &e->older->newer : &s->oldest) = e->newer;
}

static void link_newest(struct shard *s, struct plan_entry *e)
{
	e->newer = NULL;
	e->older = s->newest;
	*(s->newest ? &s->newest->newer : &s->oldest) = e;
	s->newest = e;
}

// Under the shard's lock. Whoever still sends the reply has a reference of his own.
static void remove_at(struct pagecache *c, struct shard *s, struct plan_entry **at)
{
	struct plan_entry *e = *at;
	*at = e->next;
	unlink_use(s, e);
	atomic_fetch_sub(&c->used, e->weight);
	reply_unref(e->reply);
	free(e);
}

static void remove_entry(struct pagecache *c, struct shard *s, struct plan_entry *e)
{
	remove_at(c, s, slot_of(s, e->hash, (struct str){e->key, e->key_len}));
}

struct pagecache *pagecache_new(size_t bytes)
{
	struct pagecache *c = xcalloc(1, sizeof(*c));
	c->limit = bytes;
	for (int i = 0; i < SHARDS; i++)
		pthread_mutex_init(&c->shard[i].lock, NULL);
	for (int i = 0; i < MAKERS; i++)
		pthread_mutex_init(&c->maker[i], NULL);
	return c;
}

void pagecache_clear(struct pagecache *c)
{
	atomic_fetch_add(&c->clears, 1);
	for (int i = 0; i < SHARDS; i++) {
		struct shard *s = &c->shard[i];
		pthread_mutex_lock(&s->lock);
		while (s->oldest)
			remove_entry(c, s, s->oldest);
		pthread_mutex_unlock(&s->lock);
	}
}

void pagecache_free(struct pagecache *c)
{
	if (!c)
		return;
	pagecache_clear(c);
	for (int i = 0; i < SHARDS; i++)
		pthread_mutex_destroy(&c->shard[i].lock);
	for (int i = 0; i < MAKERS; i++)
		pthread_mutex_destroy(&c->maker[i]);
	free(c);
}

struct reply *pagecache_get(struct pagecache *c, struct str key)
{
	uint64_t hash = hash_of(key);
	struct shard *s = shard_of(c, hash);
	struct reply *found = NULL;
	pthread_mutex_lock(&s->lock);
	struct plan_entry *e = *slot_of(s, hash, key);
	if (e && (!e->expires || clock_seconds() < e->expires)) {
		if (e != s->newest) {
			unlink_use(s, e);
			link_newest(s, e);
		}
		found = reply_ref(e->reply);
	}
	pthread_mutex_unlock(&s->lock);
	return found;
}

uint32_t pagecache_cleared(const struct pagecache *c)
{
	return atomic_load(&c->clears);
}

static uint64_t epoch_of(const struct pagecache *c, uint64_t hash, uint32_t cleared)
{
	return (uint64_t)cleared << 32 | atomic_load(&c->drops[hash % DROP_SLOTS]);
}

uint64_t pagecache_epoch(const struct pagecache *c, struct str key, uint32_t cleared)
{
	return epoch_of(c, hash_of(key), cleared);
}

static struct plan_entry *entry_new(struct str key, uint64_t hash, struct reply *reply, unsigned seconds)
{
	struct plan_entry *e = xcalloc(1, sizeof(*e) + key.len);
	e->reply = reply_ref(reply);
	e->weight = sizeof(*e) + key.len + reply_weight(reply);
	e->hash = hash;
	e->expires = seconds ? clock_seconds() + (long)seconds : 0;
	e->key_len = key.len;
	memcpy(e->key, key.ptr, key.len);
	return e;
}

// Makes room, first in the shard that grew, then in the next ones: so that one large page can use it all.
static void make_room(struct pagecache *c, size_t first)
{
	for (size_t i = 0; i < SHARDS && atomic_load(&c->used) > c->limit; i++) {
		struct shard *s = &c->shard[(first + i) % SHARDS];
		pthread_mutex_lock(&s->lock);
		while (s->oldest && (i || s->oldest != s->newest) && atomic_load(&c->used) > c->limit)
			remove_entry(c, s, s->oldest);
		pthread_mutex_unlock(&s->lock);
	}
}

void pagecache_put(struct pagecache *c, struct str key, struct reply *reply, unsigned seconds, uint64_t epoch)
{
	uint64_t hash = hash_of(key);
	struct shard *s = shard_of(c, hash);
	struct plan_entry *e = entry_new(key, hash, reply, seconds);
	pthread_mutex_lock(&s->lock);
	if (epoch_of(c, hash, pagecache_cleared(c)) != epoch || e->weight > c->limit / LARGEST_SHARE) {
		pthread_mutex_unlock(&s->lock);
		reply_unref(e->reply);
		free(e);
		return;
	}
	struct plan_entry **at = slot_of(s, hash, key);
	if (*at)
		remove_at(c, s, at);
	at = slot_of(s, hash, key);
	*at = e;
	link_newest(s, e);
	atomic_fetch_add(&c->used, e->weight);
	pthread_mutex_unlock(&s->lock);
	make_room(c, hash % SHARDS);
}

void pagecache_drop(struct pagecache *c, struct str key)
{
	uint64_t hash = hash_of(key);
	struct shard *s = shard_of(c, hash);
	atomic_fetch_add(&c->drops[hash % DROP_SLOTS], 1);
	pthread_mutex_lock(&s->lock);
	struct plan_entry **at = slot_of(s, hash, key);
	if (*at)
		remove_at(c, s, at);
	pthread_mutex_unlock(&s->lock);
}

void pagecache_sweep(struct pagecache *c)
{
	long now = clock_seconds();
	for (int i = 0; i < SHARDS; i++) {
		struct shard *s = &c->shard[i];
		pthread_mutex_lock(&s->lock);
		for (struct plan_entry *e = s->oldest, *next; e; e = next) {
			next = e->newer;
			if (e->expires && e->expires <= now)
				remove_entry(c, s, e);
		}
		pthread_mutex_unlock(&s->lock);
	}
}

void pagecache_make_begin(struct pagecache *c, struct str key)
{
	pthread_mutex_lock(&c->maker[hash_of(key) % MAKERS]);
}

void pagecache_make_end(struct pagecache *c, struct str key)
{
	pthread_mutex_unlock(&c->maker[hash_of(key) % MAKERS]);
}

size_t pagecache_bytes(const struct pagecache *c)
{
	return atomic_load(&c->used);
}
