// SPDX-License-Identifier: Apache-2.0
// The entries of the audit log that a client may see, the newest. One thread fills a value; any thread may read it.
#pragma once

#include "lib/base/arena.h"
#include "lib/state/access/audit-asked.h"
#include "lib/state/access/tokens.h"
#include "lib/view/view.h"

struct log_query {
	const struct site *site;
	const struct token_grant *grant; // what the client may read
	const struct audit_asked *asked;
	const char *audit_path;
	size_t limit; // entries
};

struct log_line {
	struct audit_entry entry;
	const char *time;
};

struct log_data {
	struct log_line *line; // all that were read, the oldest first; those to show are the last ones
	size_t lines, room;
	size_t first;  // to show
	bool is_whole; // the log was read from its beginning, or from `since`
	struct arena text;
};

// Reads at most LIMIT_AUDIT_READ bytes. Errors of audit_recent(). The caller releases *out in any case.
int log_data_read(const struct log_query *q, struct log_data *out, struct err *e) MUST_CHECK;
void log_data_release(struct log_data *d); // for CLEANUP
