// SPDX-License-Identifier: Apache-2.0
// The page cache: ready replies by key, limited in bytes; the least recently used ones leave first. Costly pages have a
// quarter of it, and evict each other alone: however many a client asks for, the pages that pip needs stay. Any thread:
// the cache consists of shards with a lock each.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "server/core/page-key.h"
#include "server/message/reply.h"

struct pagecache;

struct pagecache *pagecache_new(size_t bytes);
void pagecache_free(struct pagecache *c); // NULL is fine
// A reference, which the caller drops; NULL: not in the cache, or expired.
struct reply *pagecache_get(struct pagecache *c, const struct page_key *key);
// The caller takes the epoch before it reads the data of a reply. pagecache_put() ignores a reply whose key was
// dropped, or whose cache was cleared, since its epoch: it may be out of date. cleared: pagecache_cleared() before the
// key was made.
uint64_t pagecache_epoch(const struct pagecache *c, const struct page_key *key, uint32_t cleared);
uint32_t pagecache_cleared(const struct pagecache *c);
// Adds a reference of its own to the reply. ms: until it expires; 0: until it is dropped or evicted.
void pagecache_put(struct pagecache *c, const struct page_key *key, struct reply *reply, int64_t ms,
	uint64_t epoch);
void pagecache_drop(struct pagecache *c, const struct page_key *key);
void pagecache_clear(struct pagecache *c);
// Drops the expired replies. Called periodically.
void pagecache_sweep(struct pagecache *c);

// Between begin and end one thread makes the reply of a key. Other threads that want this key, and only these, wait in
// begin, and then find the reply in the cache. making is the caller's until end, and the key too.
struct page_making {
	struct page_making *next;
	const struct page_key *key;
};
void pagecache_make_begin(struct pagecache *c, struct page_making *making, const struct page_key *key);
void pagecache_make_end(struct pagecache *c, struct page_making *making);
size_t pagecache_bytes(const struct pagecache *c);
