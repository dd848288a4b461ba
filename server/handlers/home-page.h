// SPDX-License-Identifier: Apache-2.0
// Writes the page for people at "/": what the store has, and the commands that make pip and uv use it. It
// works without scripts. Private platforms are omitted. No state: any thread.
#pragma once

#include "lib/base/buf.h"
#include "lib/state/catalog/catalog.h"
#include "lib/view/view.h"
#include "server/handlers/html-layout.h"

struct home_page_stats {
	const struct catalog_totals *platform; // one for each of site->store.platform, in its order
	bool is_scanning;
	int64_t last_scan; // seconds since 1970; 0: none has ended yet
};

// Adds the page to out; ERR_LIMIT if it is larger than out's ceiling. base_url is the server's URL as the client knows
// it, such as "http://cache:8080". It may come from a Host header, so it is not trusted.
int home_page_write(const struct html_frame *frame, const struct site *s, const struct home_page_stats *stats,
	const char *base_url, struct buf *out, struct err *e) MUST_CHECK;
