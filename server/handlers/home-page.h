// SPDX-License-Identifier: Apache-2.0
// The page for people at "/": what is here, and the lines that point pip and uv at it. One document, nothing
// fetched from elsewhere, works without scripts. What is private is not on it. Pure.
#pragma once

#include "lib/base/buf.h"
#include "lib/state/catalog/catalog.h"
#include "lib/view/view.h"

struct home_page_stats {
	const struct catalog_totals *platform; // one for each of site->store.platform, in its order
	bool is_scanning;
	int64_t last_scan; // seconds since 1970; 0: none has ended yet
};

// For the header Content-Security-Policy.
extern const char home_page_policy[];

// Adds the page to out; ERR_LIMIT where it passes out's ceiling. base_url is what the client calls us, as
// "http://cache:8080"; it may come from a Host header, so nothing in it is trusted.
int home_page_page(const struct site *s, const struct home_page_stats *stats, const char *base_url, struct buf *out,
	struct err *e) MUST_CHECK;
