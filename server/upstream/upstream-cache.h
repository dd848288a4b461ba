// SPDX-License-Identifier: Apache-2.0
// What upstream has of the projects that were asked for lately, in memory: between a page and the files of it, nothing
// is read from the catalog and unpacked again. Bounded by bytes; the project that was not wanted for longest goes first.
// Thread-safe.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct facts;
struct upstream_project; // lib/state/upstream/upstream.h

struct facts *facts_new(size_t bytes);
void facts_free(struct facts *f); // NULL is fine

// A reference for the caller; NULL: it is not here.
struct upstream_project *facts_get(struct facts *f, const char *project);
// Of what upstream has just said: in place of what was here.
void facts_put(struct facts *f, struct upstream_project *p);
// To be read before the catalog is.
uint64_t facts_epoch(struct facts *f);
// Of what the catalog had at that epoch: not where there is something newer, or there may be.
void facts_add(struct facts *f, struct upstream_project *p, uint64_t epoch);
// The catalog's change of that number is one of this project's. Whether what is here is as new; else it goes. What is not
// here is not as new.
bool facts_keep_up(struct facts *f, const char *project, int64_t changed);
void facts_clear(struct facts *f);
