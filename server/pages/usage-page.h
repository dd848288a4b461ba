// SPDX-License-Identifier: Apache-2.0
// The page of /-/usage/ for people; its other forms are those of lib/view/usage.h. No state: any thread.
#pragma once

#include "lib/view/usage.h"
#include "server/pages/html-layout.h"

struct usage_page_query {
	enum usage_by by;
	const char *project; // in normal form; "": all
	size_t limit;        // of rows
};

// out's ceiling limits what is added; then ERR_LIMIT.
int usage_page_write(const struct html_frame *frame, const struct usage_page_query *q, const struct usage *u,
	struct buf *out, struct err *e) MUST_CHECK;
