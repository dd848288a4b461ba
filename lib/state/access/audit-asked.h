// SPDX-License-Identifier: Apache-2.0
// What a person asks of the audit log, and how an entry reads as a line: as wheelcache log and /-/log/ have it. Pure; any
// thread.
#pragma once

#include "lib/os/clock.h"
#include "lib/state/access/audit-recent.h"

// Owned; all zero: everything is asked for.
struct audit_asked {
	char *file;             // a file name; NULL: any
	char *project;          // in normal form; NULL: any
	char since[CLOCK_TEXT]; // "": from the first
};

// word: the name or path of a file, or the name of a project. ERR_USAGE: it is neither.
int audit_asked_subject(struct audit_asked *a, const char *word, struct err *e) MUST_CHECK;
// text: see lib/state/config/since.h.
int audit_asked_since(struct audit_asked *a, const char *text, struct err *e) MUST_CHECK;
void audit_asked_release(struct audit_asked *a); // for CLEANUP
// Sets what is asked for in *out, borrowed.
void audit_asked_query(const struct audit_asked *a, struct audit_query *out);

// Adds "2026-11-22T20:00:00.123456Z ci from 192.0.2.1: upload PLATFORM FILE: done (REASON)", as the entry has it: not
// escaped.
void audit_entry_text(const struct audit_entry *a, const char *time, struct buf *out);
