// SPDX-License-Identifier: Apache-2.0
// Writes the page of the last plan of a prune: sums by platform and verdict, and the files, searchable and in pages.
// It shows only the platforms of the query, so the caller omits those that the client may not read. One thread for
// each catalog.
#pragma once

#include "lib/base/buf.h"
#include "lib/state/catalog/catalog.h"
#include "lib/state/store/store.h"
#include "server/handlers/html-layout.h"

// The client's query, which is not trusted. All pointers are borrowed.
struct plan_page_query {
	const struct platform *const *platform; // that the client may read, in their order
	size_t platforms;
	const char *only;    // the name of one of them; "": all
	const char *verdict; // "": any; "removed", "kept", or a verdict
	const char *text;    // "": any
	uint64_t page;       // from 1
};

// Adds the page to out; ERR_LIMIT if it is larger than out's ceiling, and the catalog's errors. If there is no plan,
// the page says how to make one.
int plan_page_write(const struct html_frame *frame, struct catalog *c, const struct plan_page_query *query,
	struct buf *out, struct err *e) MUST_CHECK;
