// SPDX-License-Identifier: Apache-2.0
// The scan's one writer: takes outcomes into the catalog, in batches, so that a scan that is killed
// has lost little. What has gone is removed last: a file that only moved is never missing from a
// page.
#pragma once

#include "indexer/outcome.h"
#include "indexer/summary.h"
#include "lib/state/catalog.h"

struct record;

// All are borrowed until record_free.
struct record *record_new(struct catalog *c, const struct store *store, struct summary *summary);
// Rolls back what is not committed. NULL is fine.
void record_free(struct record *r);
void record_cleanup(struct record **r);
int record_outcome(struct record *r, const struct outcome *o, struct err *e) MUST_CHECK;
// How many of a platform's known files were found to be gone.
uint64_t record_gone(const struct record *r, size_t platform_index);
// A whole platform could not be read: this scan does not count as the catalog's first whole one.
// (Any other that got to its end does, also where some folder could not be read: a lost+found would
// keep the catalog from ever being ready.)
void record_miss(struct record *r);
// They are there after all: the platform's volume is not mounted.
void record_keep(struct record *r, size_t platform_index);
// Removes what has gone, with all of these platforms (ids), and commits all that is left.
int record_finish(
	struct record *r, const int64_t *dropped, size_t dropped_count, struct err *e) MUST_CHECK;
// Commits what waits to be for longer than a second.
int record_tick(struct record *r, struct err *e) MUST_CHECK;
