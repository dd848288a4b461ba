// SPDX-License-Identifier: Apache-2.0
// The forms of /-/log/. No state: any thread. out's ceiling limits what is added; then ERR_LIMIT.
#pragma once

#include "server/pages/html-layout.h"
#include "server/pages/log-data.h"

struct log_page_query {
	const char *subject, *since; // as they were typed
	size_t limit;
};

// For people, the newest first.
int log_page_write(const struct html_frame *frame, const struct log_page_query *q, const struct log_data *d,
	struct buf *out, struct err *e) MUST_CHECK;
// {"entries": [as a line of the log, the oldest first], "more": bool (older ones were left out)}
int log_json_write(const struct log_data *d, struct buf *out, struct err *e) MUST_CHECK;
// As wheelcache log prints it.
int log_text_write(const struct log_data *d, struct buf *out, struct err *e) MUST_CHECK;
