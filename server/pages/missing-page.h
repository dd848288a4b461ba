// SPDX-License-Identifier: Apache-2.0
// Writes the page of what is missing on a platform: totals by Python, and the rows. No state: any thread.
#pragma once

#include "builder/missing/missing.h"
#include "server/pages/html-layout.h"

// The query that the page answers; all is borrowed and not trusted.
struct missing_page_query {
	const char *platform, *python, *project; // python, project "": all
	bool wants_all;
};

// Adds the page to out; ERR_LIMIT if it is larger than out's ceiling.
int missing_page_write(const struct html_frame *frame, const struct missing *m, const struct missing_page_query *query,
	struct buf *out, struct err *e) MUST_CHECK;
