// SPDX-License-Identifier: Apache-2.0
// The newest lines of the audit log about one project. The log may be of any length: only its last LIMIT_AUDIT_READ bytes
// are read. Any thread.
#pragma once

#include "lib/state/access/audit.h"

// Calls fn for each entry of the project (normal form), the oldest first. The strings are borrowed for the call. time: as
// it is written in the log. *is_whole: the log was read from its beginning. A log that is missing has no entries; lines
// that are no entries are left out. Errors: ERR_IO; and what fn returns.
typedef int audit_recent_fn(void *ctx, const struct audit_entry *entry, const char *time, struct err *e);
int audit_recent(const char *path, const char *project, audit_recent_fn *fn, void *ctx, bool *is_whole,
	struct err *e) MUST_CHECK;
