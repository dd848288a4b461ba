// SPDX-License-Identifier: Apache-2.0
#include "server/core/pagecache.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/lru.h"
#include "lib/base/mem.h"
#include "lib/os/clock.h"

enum {
	SHARDS = 16,
	DROP_SLOTS = 256,
	LARGEST_SHARE = 4, // one reply may take a quarter of the cache
	COSTLY_SHARE = 4,  // all costly pages together, too
};

struct cached_reply {
	struct lru_entry lru; // its key is the one below
	struct reply *reply;
	int64_t expires_ms; // of clock_ms(); 0: never
	char key[];
};

struct shard {
	pthread_mutex_t lock;
	struct lru lru;
};

// The cheap pages, or the costly ones.
struct part {
	size_t limit;
	atomic_size_t used;
	struct shard shard[SHARDS];
	pthread_mutex_t making_lock;
	pthread_cond_t made;
	struct page_making *making; // one for each thread at most
};

struct pagecache {
	size_t largest;
	_Atomic uint32_t clears;
	_Atomic uint32_t drops[DROP_SLOTS]; // by the key's hash, so that a drop concerns few other keys
	struct part part[2];                // by page_key_is_costly()
};

static struct part *part_of(struct pagecache *c, const struct page_key *key)
{
	return &c->part[page_key_is_costly(key)];
}

static struct shard *shard_of(struct part *p, const struct page_key *key)
{
	return &p->shard[key->hash % SHARDS];
}

static void free_cached(struct cached_reply *e)
{
	reply_unref(e->reply);
	free(e);
}

// Drops an entry that is not in the index any more. Under the shard's lock. A connection that sends the reply has a
// reference of its own.
static void discard_removed(struct part *p, struct lru_entry *e)
{
	atomic_fetch_sub(&p->used, e->weight);
	free_cached((struct cached_reply *)e);
}

static void remove_entry(struct part *p, struct shard *s, struct lru_entry *e)
{
	lru_remove(&s->lru, e);
	discard_removed(p, e);
}

static void init_part(struct part *p, size_t limit)
{
	p->limit = limit;
	pthread_mutex_init(&p->making_lock, NULL);
	pthread_cond_init(&p->made, NULL);
	for (int i = 0; i < SHARDS; i++)
		pthread_mutex_init(&p->shard[i].lock, NULL);
}

static void clear_part(struct part *p)
{
	for (int i = 0; i < SHARDS; i++) {
		struct shard *s = &p->shard[i];
		struct lru_entry *e;
		pthread_mutex_lock(&s->lock);
		while ((e = lru_evict(&s->lru, 0)))
			discard_removed(p, e);
		pthread_mutex_unlock(&s->lock);
	}
}

static void release_part(struct part *p)
{
	for (int i = 0; i < SHARDS; i++) {
		lru_release(&p->shard[i].lru);
		pthread_mutex_destroy(&p->shard[i].lock);
	}
	pthread_cond_destroy(&p->made);
	pthread_mutex_destroy(&p->making_lock);
}

struct pagecache *pagecache_new(size_t bytes)
{
	struct pagecache *c = xcalloc(1, sizeof(*c));
	c->largest = bytes / LARGEST_SHARE;
	init_part(&c->part[false], bytes - bytes / COSTLY_SHARE);
	init_part(&c->part[true], bytes / COSTLY_SHARE);
	return c;
}

void pagecache_clear(struct pagecache *c)
{
	atomic_fetch_add(&c->clears, 1);
	clear_part(&c->part[false]);
	clear_part(&c->part[true]);
}

void pagecache_free(struct pagecache *c)
{
	if (!c)
		return;
	pagecache_clear(c);
	release_part(&c->part[false]);
	release_part(&c->part[true]);
	free(c);
}

struct reply *pagecache_get(struct pagecache *c, const struct page_key *key)
{
	struct shard *s = shard_of(part_of(c, key), key);
	struct reply *found = NULL;
	pthread_mutex_lock(&s->lock);
	struct cached_reply *e = (struct cached_reply *)lru_find(&s->lru, key->hash, page_key_view(key));
	if (e && (!e->expires_ms || clock_ms() < e->expires_ms)) {
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

uint64_t pagecache_epoch(const struct pagecache *c, const struct page_key *key, uint32_t cleared)
{
	return epoch_of(c, key->hash, cleared);
}

// Evicts, first from the shard that grew, then from the next ones, so that one large page can use the whole part.
static void evict_replies(struct part *p, size_t first)
{
	for (size_t i = 0; i < SHARDS && atomic_load(&p->used) > p->limit; i++) {
		struct shard *s = &p->shard[(first + i) % SHARDS];
		pthread_mutex_lock(&s->lock);
		while (s->lru.oldest && (i || s->lru.oldest != s->lru.newest) && atomic_load(&p->used) > p->limit)
			remove_entry(p, s, s->lru.oldest);
		pthread_mutex_unlock(&s->lock);
	}
}

void pagecache_put(struct pagecache *c, const struct page_key *key, struct reply *reply, int64_t ms,
	uint64_t epoch)
{
	struct part *p = part_of(c, key);
	struct shard *s = shard_of(p, key);
	struct cached_reply *e = xcalloc(1, sizeof(*e) + key->len);
	memcpy(e->key, key->bytes, key->len);
	e->lru.key = (struct str){e->key, key->len};
	e->lru.hash = key->hash;
	e->lru.weight = sizeof(*e) + key->len + reply_weight(reply);
	e->reply = reply_ref(reply);
	e->expires_ms = ms ? clock_ms() + ms : 0;
	pthread_mutex_lock(&s->lock);
	if (!key->len || epoch_of(c, key->hash, pagecache_cleared(c)) != epoch || e->lru.weight > c->largest) {
		pthread_mutex_unlock(&s->lock);
		free_cached(e);
		return;
	}
	struct lru_entry *old = lru_find(&s->lru, key->hash, page_key_view(key));
	if (old)
		remove_entry(p, s, old);
	lru_add(&s->lru, &e->lru);
	atomic_fetch_add(&p->used, e->lru.weight);
	pthread_mutex_unlock(&s->lock);
	evict_replies(p, key->hash % SHARDS);
}

void pagecache_drop(struct pagecache *c, const struct page_key *key)
{
	struct part *p = part_of(c, key);
	struct shard *s = shard_of(p, key);
	atomic_fetch_add(&c->drops[key->hash % DROP_SLOTS], 1);
	pthread_mutex_lock(&s->lock);
	struct lru_entry *e = lru_find(&s->lru, key->hash, page_key_view(key));
	if (e)
		remove_entry(p, s, e);
	pthread_mutex_unlock(&s->lock);
}

static void sweep_part(struct part *p, int64_t now_ms)
{
	for (int i = 0; i < SHARDS; i++) {
		struct shard *s = &p->shard[i];
		pthread_mutex_lock(&s->lock);
		for (struct lru_entry *e = s->lru.oldest, *next; e; e = next) {
			int64_t expires_ms = ((struct cached_reply *)e)->expires_ms;
			next = e->newer;
			if (expires_ms && expires_ms <= now_ms)
				remove_entry(p, s, e);
		}
		pthread_mutex_unlock(&s->lock);
	}
}

void pagecache_sweep(struct pagecache *c)
{
	int64_t now_ms = clock_ms();
	sweep_part(&c->part[false], now_ms);
	sweep_part(&c->part[true], now_ms);
}

// A key that is none is that of no other request.
static bool is_being_made(const struct part *p, const struct page_key *key)
{
	const struct page_making *m = p->making;
	while (m && !(m->key->hash == key->hash && str_eq(page_key_view(m->key), page_key_view(key))))
		m = m->next;
	return m && key->len;
}

void pagecache_make_begin(struct pagecache *c, struct page_making *making, const struct page_key *key)
{
	struct part *p = part_of(c, key);
	making->key = key;
	pthread_mutex_lock(&p->making_lock);
	while (is_being_made(p, key))
		pthread_cond_wait(&p->made, &p->making_lock);
	making->next = p->making;
	p->making = making;
	pthread_mutex_unlock(&p->making_lock);
}

void pagecache_make_end(struct pagecache *c, struct page_making *making)
{
	struct part *p = part_of(c, making->key);
	pthread_mutex_lock(&p->making_lock);
	struct page_making **at = &p->making;
	while (*at != making)
		at = &(*at)->next;
	*at = making->next;
	pthread_cond_broadcast(&p->made);
	pthread_mutex_unlock(&p->making_lock);
}

size_t pagecache_bytes(const struct pagecache *c)
{
	return atomic_load(&c->part[false].used) + atomic_load(&c->part[true].used);
}
