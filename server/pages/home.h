// SPDX-License-Identifier: Apache-2.0
// Writes the page for people at "/": what the store has, and the commands that make pip and uv use it. It
// works without scripts. Platforms that the client may not read are omitted. No state: any thread.
#pragma once

#include "lib/base/buf.h"
#include "lib/state/catalog/catalog.h"
#include "lib/view/view.h"
#include "server/pages/html-layout.h"
#include "server/pages/home-data.h"

// What "/" says of a platform.
struct home_page_platform {
	struct catalog_totals totals;
	bool is_missing_known;
	uint64_t missing;        // wheels that its branches lack
	int64_t missing_counted; // when, seconds since 1970
};

struct home_page_stats {
	const struct home_page_platform *platform; // one for each of site->store.platform, in its order
	const struct overview_data *overview;
	const struct readable *readable; // what the client may read whole
	bool is_scanning;
	int64_t last_scan; // seconds since 1970; 0: none has ended yet
};

// Adds the page to out. base_url is the server's URL as the client knows
// it, such as "http://cache:8080". It may come from a Host header, so it is not trusted.
void home_page_write(const struct html_frame *frame, const struct site *s, const struct home_page_stats *stats,
	const char *base_url, struct buf *out);
// The same facts as JSON.
void home_json_write(const struct site *s, const struct home_page_stats *stats, const char *base_url, struct buf *out);

// On the event loop. 302 to the index of the view or platform; 404 where there is none, or the client may not read it.
struct reply *home_view_inline(struct server_context *s, const struct route_match *match);
