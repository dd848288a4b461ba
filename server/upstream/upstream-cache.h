// SPDX-License-Identifier: Apache-2.0
// What upstream has of the projects that were asked for lately, in memory: between a page and the files of it, nothing
// is read from the catalog and unpacked again. Bounded by bytes; the project that was not wanted for longest goes first.
// Thread-safe.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct upstream_cache;
struct upstream_project; // lib/state/upstream/upstream.h

struct upstream_cache *upstream_cache_new(size_t bytes);
void upstream_cache_free(struct upstream_cache *f); // NULL is fine

// A reference for the caller; NULL: it is not here.
struct upstream_project *upstream_cache_get(struct upstream_cache *f, const char *project);
// Of what upstream has just said: in place of what was here.
void upstream_cache_put(struct upstream_cache *f, struct upstream_project *p);
// To be read before the catalog is.
uint64_t upstream_cache_epoch(struct upstream_cache *f);
// Of what the catalog had at that epoch: not where there is something newer, or there may be.
void upstream_cache_add(struct upstream_cache *f, struct upstream_project *p, uint64_t epoch);
// The catalog's change of that number is one of this project's. Whether what is here is as new; else it goes. What is not
// here is not as new.
bool upstream_cache_keep_up(struct upstream_cache *f, const char *project, int64_t changed);
void upstream_cache_clear(struct upstream_cache *f);
