// SPDX-License-Identifier: Apache-2.0
// Upstream's project pages in memory, so that the requests for a page and for its files do not unpack the catalog's
// copy each time. Bounded in bytes; the least recently used project is evicted first. Any thread may call any
// function.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct upstream_cache;
struct upstream_project; // lib/state/upstream/upstream.h

// bytes: the limit. Never NULL.
struct upstream_cache *upstream_cache_new(size_t bytes);
// No thread may use it any more. NULL is fine.
void upstream_cache_free(struct upstream_cache *c);

// A reference for the caller; NULL: the project is not cached.
struct upstream_project *upstream_cache_get(struct upstream_cache *c, const char *project);
// Replaces the entry by a new answer of upstream, and takes a reference of it.
void upstream_cache_put(struct upstream_cache *c, struct upstream_project *p);
// For upstream_cache_add(): to be read before the catalog is.
uint64_t upstream_cache_epoch(struct upstream_cache *c);
// Adds what the catalog had at that epoch, and takes a reference of it. Does nothing if there is an entry, or if the
// cache has changed since then, because a newer answer may exist.
void upstream_cache_add(struct upstream_cache *c, struct upstream_project *p, uint64_t epoch);
// Change number changed of the catalog touched this project. True: the entry is as new. False: there is none, or it
// was dropped.
bool upstream_cache_note_change(struct upstream_cache *c, const char *project, int64_t changed);
void upstream_cache_clear(struct upstream_cache *c);
