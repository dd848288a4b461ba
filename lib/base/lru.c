// SPDX-License-Identifier: Apache-2.0
#include "lib/base/lru.h"

#include <assert.h>
#include <stdlib.h>

#include "lib/base/mem.h"

enum { FEWEST_BUCKETS = 64 };

// Not the lowest bits: a cache in several parts chooses the part by these.
static struct lru_entry **bucket_of(const struct lru *l, uint64_t hash)
{
	return &l->bucket[(hash >> 16) & (l->buckets - 1)];
}

void lru_release(struct lru *l)
{
	assert(!l->count);
	mem_free(&l->bucket);
	l->buckets = 0;
}

struct lru_entry *lru_find(const struct lru *l, uint64_t hash, struct str key)
{
	struct lru_entry *e = l->buckets ? *bucket_of(l, hash) : NULL;
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

static void link_in_bucket(struct lru *l, struct lru_entry *e)
{
	struct lru_entry **bucket = bucket_of(l, e->hash);
	e->next = *bucket;
	*bucket = e;
}

// Doubles the buckets while there are as many entries.
static void grow_buckets(struct lru *l)
{
	if (l->count < l->buckets)
		return;
	free(l->bucket);
	l->buckets = l->buckets ? 2 * l->buckets : FEWEST_BUCKETS;
	l->bucket = xcalloc(l->buckets, sizeof(struct lru_entry *));
	for (struct lru_entry *e = l->oldest; e; e = e->newer)
		link_in_bucket(l, e);
}

void lru_add(struct lru *l, struct lru_entry *e)
{
	grow_buckets(l);
	link_in_bucket(l, e);
	link_as_newest(l, e);
	l->count++;
	l->weight += e->weight;
}

void lru_remove(struct lru *l, struct lru_entry *e)
{
	struct lru_entry **at = bucket_of(l, e->hash);
	while (*at != e)
		at = &(*at)->next;
	*at = e->next;
	unlink_from_uses(l, e);
	l->count--;
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
