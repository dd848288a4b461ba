// SPDX-License-Identifier: Apache-2.0
// The scan's one writer: takes outcomes into the catalog, in batches, so that a scan that is killed
// has lost little. What has gone is removed last: a file that only moved is never missing from a
// page.
#pragma once

#include "indexer/walk/scan-event.h"
#include "indexer/walk/scan-report.h"
#include "lib/state/catalog/catalog.h"

struct scan_writer;

// All are borrowed until scan_writer_free.
struct scan_writer *scan_writer_new(struct catalog *c, const struct store *store, struct summary *summary);
// Rolls back what is not committed. NULL is fine.
void scan_writer_free(struct scan_writer *r);
int scan_writer_outcome(struct scan_writer *r, const struct scan_event *o, struct err *e) MUST_CHECK;
// How many of a platform's known files were found to be gone.
uint64_t scan_writer_gone(const struct scan_writer *r, size_t platform_index);
// A whole platform, which the store has no more, could not be read: this scan does not count as the catalog's first whole one.
// (Any other that got to its end does, also where some folder could not be read: a lost+found would
// keep the catalog from ever being ready.)
void scan_writer_miss(struct scan_writer *r);
// They are there after all: the platform's volume is not mounted.
void scan_writer_keep(struct scan_writer *r, size_t platform_index);
// Removes what has gone, with all of these platforms (ids), and commits all that is left.
int scan_writer_finish(struct scan_writer *r, const int64_t *dropped, size_t dropped_count, struct err *e) MUST_CHECK;
// Commits what waits to be for longer than a second.
int scan_writer_tick(struct scan_writer *r, struct err *e) MUST_CHECK;
