// SPDX-License-Identifier: Apache-2.0
// The page of the last plan of a prune, for people: what it says by platform and verdict, and its files, searched and a
// page at a time. What is private is on it for those alone who may read it. Without scripts. Pure, but for the catalog.
#pragma once

#include "lib/base/buf.h"
#include "lib/state/catalog/catalog.h"
#include "lib/state/store/store.h"

// What was asked for. Nothing in it is trusted.
struct plan_page_query {
	const struct platform *const *platform; // that the reader may see, in their order
	size_t platforms;
	const char *only;    // the name of one of them; "": all
	const char *verdict; // "": any; "removed", "kept", or a verdict
	const char *text;    // "": any
	uint64_t page;       // from 1
};

// For the header Content-Security-Policy.
extern const char plan_page_policy[];

// Adds the page to out; ERR_LIMIT where it passes out's ceiling. Where no plan was made, it says how to.
int plan_page_page(struct catalog *c, const struct plan_page_query *query, struct buf *out, struct err *e) MUST_CHECK;
