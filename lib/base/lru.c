// SPDX-License-Identifier: Apache-2.0
#include "lib/base/lru.h"

// Not the lowest bits: a cache in several parts chooses the part by these.
static size_t bucket_of(uint64_t hash)
{
	return (hash >> 16) % LRU_BUCKETS;
}

struct lru_entry *lru_find(const struct lru *l, uint64_t hash, struct str key)
{
	struct lru_entry *e = l->bucket[bucket_of(hash)];
	while (e && !(e->hash == hash && str_eq(e->key, key)))
		e = e->next;
	return e;
}

static void unlink_from_uses(struct lru *l, struct lru_entry *e)
{
	*(e->newer ? &e->newer->older : &l->newest) = e->older;
	*(e->older ? &e->older->newer : &l->oldest) = e->newer;
}

static void link_as_newest(struct lru *l, struct lru_entry *e)
{
	e->newer = NULL;
	e->older = l->newest;
	*(l->newest ? &l->newest->newer : &l->oldest) = e;
	l->newest = e;
}

void lru_touch(struct lru *l, struct lru_entry *e)
{
	if (e == l->newest)
		return;
	unlink_from_uses(l, e);
	link_as_newest(l, e);
}

void lru_add(struct lru *l, struct lru_entry *e)
{
	struct lru_entry **bucket = &l->bucket[bucket_of(e->hash)];
	e->next = *bucket;
	*bucket = e;
	link_as_newest(l, e);
	l->weight += e->weight;
}

void lru_remove(struct lru *l, struct lru_entry *e)
{
	struct lru_entry **at = &l->bucket[bucket_of(e->hash)];
	while (*at != e)
		at = &(*at)->next;
	*at = e->next;
	unlink_from_uses(l, e);
	l->weight -= e->weight;
}

struct lru_entry *lru_evict(struct lru *l, size_t limit)
{
	struct lru_entry *e = l->oldest;
	if (l->weight <= limit)
		return NULL;
	lru_remove(l, e);
	return e;
}
