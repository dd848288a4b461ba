// SPDX-License-Identifier: Apache-2.0
// The page of a record of a test run. Any thread.
#pragma once

#include "lib/domain/promotion/evidence.h"
#include "server/pages/html-layout.h"

struct evidence_page_query {
	const struct jsondoc *noted; // "id", "received", and "by", "address" and "views", which are null for some clients
	uint64_t limit;              // of the wheels that are shown
	// 1: the server has a page of the wheel's version for this client; 0: not; -1: an error.
	int (*has_page)(void *ctx, const struct evidence_wheel *wheel, struct err *e);
	void *ctx;
};

// ERR_LIMIT: it is larger than out may be; errors of has_page.
int evidence_page_write(const struct html_frame *frame, const struct evidence *r, const struct evidence_page_query *query,
	struct buf *out, struct err *e) MUST_CHECK;
