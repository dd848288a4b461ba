// SPDX-License-Identifier: Apache-2.0
// Counts completed downloads per file, in memory. A timer thread adds the counts to the file of downloads
// (lib/state/access/downloads.h) periodically and at the stop. A process that is killed loses the counts since the last
// write. Any thread may call all functions except start and stop.
#pragma once

#include <stdatomic.h>
#include <stdbool.h>

#include "lib/base/str.h"
#include "lib/state/access/downloads.h"

struct download_counter;

// The count of one file, shared by its replies.
struct download_count {
	_Atomic uint32_t sent; // downloads since the last write
	_Atomic unsigned owners;
	uint32_t taken; // how many of sent a write under way covers
	struct download_count *next;
	char key[]; // lib/state/access/downloads.h says what it is
};

// Creates the file at once, if possible: it records when the counting began. The place is copied.
struct download_counter *download_counter_start(const struct downloads_place *place, unsigned period_ms);
// Writes once more. References may outlive the counter. NULL is fine.
void download_counter_stop(struct download_counter *t);
// place: the name of the platform, or "upstream/NAME/PROJECT". A reference, which the caller drops. NULL: the file is
// not counted, since t is NULL, the name has control characters, or too many counts could not be written. Takes a lock,
// so it is not for the event loop.
struct download_count *download_counter_of(struct download_counter *t, const char *place, struct str filename);
struct download_count *download_counter_ref(struct download_count *count); // NULL is fine, also below
void download_counter_unref(struct download_count *count);
static inline void download_counter_raise(struct download_count *count)
{
	if (count)
		atomic_fetch_add_explicit(&count->sent, 1, memory_order_relaxed);
}
// Counts a download of this file by this client ("token NAME", "address ADDRESS"), in a counter whose place says who.
// On the event loop: a write holds its lock for a millisecond. t NULL is fine.
void download_counter_note(struct download_counter *t, const struct download_count *file, const char *who);
// Adds the counts to the file now. On an error it logs a warning and keeps the counts for the next write.
void download_counter_write(struct download_counter *t);
