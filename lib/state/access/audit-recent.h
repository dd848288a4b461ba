// SPDX-License-Identifier: Apache-2.0
// The lines of the audit log, all or the newest, also those of files that were moved (audit.h). Of more than
// LIMIT_AUDIT_FILES files only the newest are read. Any thread.
#pragma once

#include "lib/os/clock.h"
#include "lib/state/access/audit.h"

// Fields that are NULL or 0 demand nothing.
struct audit_query {
	const char *path;    // of the log; never NULL
	const char *project; // only its entries (normal form)
	const char *file;    // only those of files with this name
	const char *since;   // only those of this time or later: a time, or the beginning of one, as it is in the log
	uint64_t most;       // bytes of the log's end that are read; 0: all
};

// Calls fn for each entry, the oldest first. The strings are borrowed for the call. time: as it is written in the log.
// *is_whole: all lines were read that can have such entries. A log that is missing has no entries; lines that are no
// entries are left out. Errors: ERR_IO; and what fn returns.
typedef int audit_recent_fn(void *ctx, const struct audit_entry *entry, const char *time, struct err *e);
int audit_recent(const struct audit_query *q, audit_recent_fn *fn, void *ctx, bool *is_whole, struct err *e) MUST_CHECK;

// --- what a person asks of it ---
// What a person asks of the audit log, and how an entry reads as a line: as wheelcache log and /-/log/ have it. Pure;
// any thread.

// Owned; all zero: everything is asked for.
struct audit_asked {
	char *file;             // a file name; NULL: any
	char *project;          // in normal form; NULL: any
	char since[CLOCK_TEXT]; // "": from the first
};

// word: the name or path of a file, or the name of a project. ERR_USAGE: it is neither.
int audit_asked_subject(struct audit_asked *a, const char *word, struct err *e) MUST_CHECK;
// text: see lib/state/config/config-type.h.
int audit_asked_since(struct audit_asked *a, const char *text, struct err *e) MUST_CHECK;
void audit_asked_release(struct audit_asked *a); // for CLEANUP
// Sets what is asked for in *out, borrowed.
void audit_asked_query(const struct audit_asked *a, struct audit_query *out);

// Adds "2026-11-22T20:00:00.123456Z ci from 192.0.2.1: upload PLATFORM FILE: done (REASON)", as the entry has it: not
// escaped.
void audit_entry_text(const struct audit_entry *a, const char *time, struct buf *out);
