// SPDX-License-Identifier: Apache-2.0
// /-/missing/PLATFORM: what is missing, from what the catalog knows; upstream is not asked. An answer is kept until
// the catalog changes, but only for some seconds, longer if it took long to make, because the files of branches and the
// results of builds change too. So many requests cost little. Any thread.
#pragma once

#include "lib/base/limits.h"
#include "server/core/server-context.h"
#include "server/pages/arguments.h"
#include "server/message/negotiate.h"

struct rebuild_set;

enum {
	MISSING_QUERY_PAGE = 64 << 20, // bytes of an answer
};

// What is asked for. All zero before missing_query_read().
struct missing_query {
	const struct site *site;
	const struct platform *platform;
	struct arguments arguments;
	char python[16];                   // as python_print() spells it; "": all
	char project[LIMIT_FILE_NAME + 1]; // normal form; "": all
	bool wants_all, is_html;
	enum page_coding coding;
	const struct rebuild_set *rebuild; // wheels that count as not there; NULL: none
	int64_t cpu_end;                   // clock_thread_ms() at which the answer has taken too long; 0: never
	struct page_key key;
};

// The platform and the arguments of a request. NULL, or the reply to one that cannot be answered, which the caller drops.
struct reply *missing_query_read(struct server_context *s, const struct route_match *match, struct missing_query *q);
// Appends the answer: a page, or JSON. Errors of missing_make; ERR_LIMIT: it is too large.
int missing_query_answer(struct server_context *s, struct catalog *c, const struct missing_query *q, struct buf *out,
	struct err *e) MUST_CHECK;

struct reply *missing_handler_inline(struct server_context *s, const struct route_match *match);
struct reply *missing_handler_worker(struct server_context *s, struct catalog *c, const struct route_match *match);
