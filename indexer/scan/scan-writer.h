// SPDX-License-Identifier: Apache-2.0
// Writes the events of a scan to the catalog, in transactions of bounded size and age, so that a killed scan loses
// little. Rows of what is gone are removed last: a file that only moved is never missing from a page. One thread.
// Errors of catalog.h.
#pragma once

#include "indexer/walk/scan-event.h"
#include "indexer/walk/scan-report.h"
#include "lib/state/catalog/catalog.h"

struct scan_writer;

// The arguments are borrowed until scan_writer_free.
struct scan_writer *scan_writer_new(struct catalog *c, const struct store *store, struct summary *summary);
// Rolls back the open transaction. NULL is fine.
void scan_writer_free(struct scan_writer *w);
// Writes one event, or remembers it for scan_writer_finish. Counts it in the summary.
int scan_writer_handle(struct scan_writer *w, const struct scan_event *event, struct err *e) MUST_CHECK;
// How many files of the platform the catalog has and the store no longer.
uint64_t scan_writer_gone(const struct scan_writer *w, size_t platform_index);
// A whole platform could not be read: this scan does not make the catalog ready. (A scan in which only folders could
// not be read does: otherwise an unreadable lost+found would keep the catalog from ever being ready.)
void scan_writer_note_unreadable(struct scan_writer *w);
// Cancels the pending removals of a platform, whose volume is probably not mounted.
void scan_writer_keep_platform(struct scan_writer *w, size_t platform_index);
// Removes the rows of what is gone and of the dropped platforms (ids), and commits.
int scan_writer_finish(struct scan_writer *w, const int64_t *dropped, size_t dropped_count, struct err *e) MUST_CHECK;
// The same after a look at some names of the store: what it did not look at is not known to be scanned.
int scan_writer_finish_changes(struct scan_writer *w, struct err *e) MUST_CHECK;
// Commits a transaction that is older than a second.
int scan_writer_tick(struct scan_writer *w, struct err *e) MUST_CHECK;
