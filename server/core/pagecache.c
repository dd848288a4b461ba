// SPDX-License-Identifier: Apache-2.0
#include "server/core/pagecache.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/hash.h"
#include "lib/base/lru.h"
#include "lib/base/mem.h"
#include "lib/os/clock.h"

enum {
	SHARDS = 16,
	MAKERS = 64,
	DROP_SLOTS = 256,
	LARGEST_SHARE = 4, // one reply may take a quarter of the cache
};

struct cached_reply {
	struct lru_entry lru; // its key is the one below
	struct reply *reply;
	long expires; // second of the monotonic clock; 0: never
	char key[];
};

struct shard {
	pthread_mutex_t lock;
	struct lru lru;
};

struct pagecache {
	size_t limit;
	atomic_size_t used;
	_Atomic uint32_t clears;
	_Atomic uint32_t drops[DROP_SLOTS]; // by the key's hash, so that a drop concerns few other keys
	struct shard shard[SHARDS];
	pthread_mutex_t maker[MAKERS];
};

static uint64_t hash_key(struct str key)
{
	return hash_of(key, 0);
}

static struct shard *shard_of(struct pagecache *c, uint64_t hash)
{
	return &c->shard[hash % SHARDS];
}

static void free_cached(struct cached_reply *e)
{
	reply_unref(e->reply);
	free(e);
}

// Drops an entry that is not in the index any more. Under the shard's lock. A connection that sends the reply has a
// reference of its own.
static void discard_removed(struct pagecache *c, struct lru_entry *e)
{
	atomic_fetch_sub(&c->used, e->weight);
	free_cached((struct cached_reply *)e);
}

static void remove_entry(struct pagecache *c, struct shard *s, struct lru_entry *e)
{
	lru_remove(&s->lru, e);
	discard_removed(c, e);
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
		struct lru_entry *e;
		pthread_mutex_lock(&s->lock);
		while ((e = lru_evict(&s->lru, 0)))
			discard_removed(c, e);
		pthread_mutex_unlock(&s->lock);
	}
}

void pagecache_free(struct pagecache *c)
{
	if (!c)
		return;
	pagecache_clear(c);
	for (int i = 0; i < SHARDS; i++) {
		lru_release(&c->shard[i].lru);
		pthread_mutex_destroy(&c->shard[i].lock);
	}
	for (int i = 0; i < MAKERS; i++)
		pthread_mutex_destroy(&c->maker[i]);
	free(c);
}

struct reply *pagecache_get(struct pagecache *c, struct str key)
{
	uint64_t hash = hash_key(key);
	struct shard *s = shard_of(c, hash);
	struct reply *found = NULL;
	pthread_mutex_lock(&s->lock);
	struct cached_reply *e = (struct cached_reply *)lru_find(&s->lru, hash, key);
	if (e && (!e->expires || clock_seconds() < e->expires)) {
		lru_touch(&s->lru, &e->lru);
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
	return epoch_of(c, hash_key(key), cleared);
}

static struct cached_reply *cached_new(struct str key, uint64_t hash, struct reply *reply, unsigned seconds)
{
	struct cached_reply *e = xcalloc(1, sizeof(*e) + key.len);
	memcpy(e->key, key.ptr, key.len);
	e->lru.key = (struct str){e->key, key.len};
	e->lru.hash = hash;
	e->lru.weight = sizeof(*e) + key.len + reply_weight(reply);
	e->reply = reply_ref(reply);
	e->expires = seconds ? clock_seconds() + (long)seconds : 0;
	return e;
}

// Evicts, first from the shard that grew, then from the next ones, so that one large page can use the whole cache.
static void evict_replies(struct pagecache *c, size_t first)
{
	for (size_t i = 0; i < SHARDS && atomic_load(&c->used) > c->limit; i++) {
		struct shard *s = &c->shard[(first + i) % SHARDS];
		pthread_mutex_lock(&s->lock);
		while (s->lru.oldest && (i || s->lru.oldest != s->lru.newest) && atomic_load(&c->used) > c->limit)
			remove_entry(c, s, s->lru.oldest);
		pthread_mutex_unlock(&s->lock);
	}
}

void pagecache_put(struct pagecache *c, struct str key, struct reply *reply, unsigned seconds, uint64_t epoch)
{
	uint64_t hash = hash_key(key);
	struct shard *s = shard_of(c, hash);
	struct cached_reply *e = cached_new(key, hash, reply, seconds);
	pthread_mutex_lock(&s->lock);
	if (epoch_of(c, hash, pagecache_cleared(c)) != epoch || e->lru.weight > c->limit / LARGEST_SHARE) {
		pthread_mutex_unlock(&s->lock);
		free_cached(e);
		return;
	}
	struct lru_entry *old = lru_find(&s->lru, hash, key);
	if (old)
		remove_entry(c, s, old);
	lru_add(&s->lru, &e->lru);
	atomic_fetch_add(&c->used, e->lru.weight);
	pthread_mutex_unlock(&s->lock);
	evict_replies(c, hash % SHARDS);
}

void pagecache_drop(struct pagecache *c, struct str key)
{
	uint64_t hash = hash_key(key);
	struct shard *s = shard_of(c, hash);
	atomic_fetch_add(&c->drops[hash % DROP_SLOTS], 1);
	pthread_mutex_lock(&s->lock);
	struct lru_entry *e = lru_find(&s->lru, hash, key);
	if (e)
		remove_entry(c, s, e);
	pthread_mutex_unlock(&s->lock);
}

void pagecache_sweep(struct pagecache *c)
{
	long now = clock_seconds();
	for (int i = 0; i < SHARDS; i++) {
		struct shard *s = &c->shard[i];
		pthread_mutex_lock(&s->lock);
		for (struct lru_entry *e = s->lru.oldest, *next; e; e = next) {
			long expires = ((struct cached_reply *)e)->expires;
			next = e->newer;
			if (expires && expires <= now)
				remove_entry(c, s, e);
		}
		pthread_mutex_unlock(&s->lock);
	}
}

void pagecache_make_begin(struct pagecache *c, struct str key)
{
	pthread_mutex_lock(&c->maker[hash_key(key) % MAKERS]);
}

void pagecache_make_end(struct pagecache *c, struct str key)
{
	pthread_mutex_unlock(&c->maker[hash_key(key) % MAKERS]);
}

size_t pagecache_bytes(const struct pagecache *c)
{
	return atomic_load(&c->used);
}
