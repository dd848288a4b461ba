// SPDX-License-Identifier: Apache-2.0
// Ready replies by key, bounded in bytes, the least recently used ones go first. Thread-safe, in shards: no lock is
// everybody's.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "lib/base/str.h"
#include "server/message/reply.h"

struct pagecache;

struct pagecache *pagecache_new(size_t bytes);
void pagecache_free(struct pagecache *c); // NULL is fine
// A reference for the caller; NULL where it is not there, or has passed its time.
struct reply *pagecache_get(struct pagecache *c, struct str key);
// Taken before the first look at what a reply is made from. A reply made before its key was dropped, or all were cleared,
// may be out of date, and is not kept then. cleared: pagecache_cleared() from before the key was made.
uint64_t pagecache_epoch(const struct pagecache *c, struct str key, uint32_t cleared);
uint32_t pagecache_cleared(const struct pagecache *c);
// Keeps a reference of its own for so many seconds, 0: until it is dropped or crowded out.
void pagecache_put(struct pagecache *c, struct str key, struct reply *reply, unsigned seconds, uint64_t epoch);
void pagecache_drop(struct pagecache *c, struct str key);
void pagecache_clear(struct pagecache *c);
// Lets go of what has passed its time. Now and then.
void pagecache_sweep(struct pagecache *c);
// One maker a key: the others wait, and find what he put. Keys may share a maker's lock.
void pagecache_make_begin(struct pagecache *c, struct str key);
void pagecache_make_end(struct pagecache *c, struct str key);
size_t pagecache_bytes(const struct pagecache *c);
