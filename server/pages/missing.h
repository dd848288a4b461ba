// SPDX-License-Identifier: Apache-2.0
// /-/missing/PLATFORM: what is missing, from what the catalog knows; upstream is not asked. An answer is kept until
// the catalog changes, but only for some seconds, longer if it took long to make, because the files of branches and the
// results of builds change too. So many requests cost little. Any thread.
#pragma once

#include "server/pages/page.h"

struct rebuild_set;

enum {
	MISSING_QUERY_PAGE = 64 << 20, // bytes of an answer
	MISSING_QUERY_PYTHON = 16,
};

// What is asked for. All zero before missing_query_read().
struct missing_query {
	const struct site *site;
	const struct platform *platform;
	char python[MISSING_QUERY_PYTHON];  // as python_print() spells it; "": all
	char project[REQUEST_ARGUMENT_SIZE]; // normal form; "": all
	bool wants_all;
	const struct rebuild_set *rebuild; // wheels that count as not there; NULL: none
	int64_t cpu_end;                   // clock_thread_ms() at which the answer has taken too long; 0: never
};

// What a query with the arguments of missing_page asks for. NULL, or the reply to one that cannot be answered, which
// the caller drops.
struct reply *missing_query_read(const struct page_query *page, struct missing_query *q);
// Appends the answer as JSON. Errors of missing_make; ERR_LIMIT: it is too large.
int missing_query_json(struct server_context *s, struct catalog *c, const struct missing_query *q, struct buf *out,
	struct err *e) MUST_CHECK;
