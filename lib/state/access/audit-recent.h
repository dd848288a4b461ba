// SPDX-License-Identifier: Apache-2.0
// The lines of the audit log, all or the newest, also those of files that were moved (audit-rotate.h). Of more than
// LIMIT_AUDIT_FILES files only the newest are read. Any thread.
#pragma once

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
