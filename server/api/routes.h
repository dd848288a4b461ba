// SPDX-License-Identifier: Apache-2.0
// From a request to its handler: finds the row of the table, checks the right that the row needs, calls the
// handler, and does what all answers have in common: conditions, ranges, the slash at the end of a path.
//
// The functions fit struct http_options; ctx is the struct server_context. The caller drops the replies. Any thread.
#pragma once

#include "server/core/server-context.h"
#include "server/http/metrics.h"
#include "server/message/body-handler.h"

// On the event loop, for GET and HEAD; does not block. Sets request->metric. NULL: routes_worker() has the answer.
struct reply *routes_inline(void *ctx, struct request *request);
// On a worker thread. NULL: the handler keeps continuation, and resumes it when routes_worker() is to be called again.
struct reply *routes_worker(void *ctx, const struct request *request, struct continuation *continuation);
// On the event loop, for all other methods; does not block. Sets request->metric. Returns what takes the body, for
// the caller to free; NULL: *refusal is the answer.
struct body_handler *routes_receive(void *ctx, struct request *request, struct reply **refusal);
// The name of the request's token, which the caller frees; NULL: it has none that is known.
char *routes_token(void *ctx, const struct request *request);
// The number of the worker pool for the request, see worker_pools_pick(). Files and uploads have a pool for each
// platform: a volume that hangs delays neither pages nor other platforms.
unsigned routes_pool(void *ctx, const struct request *request);

// The table of routes: a row is all that the server knows of a route. routes.c matches paths with it and calls the
// handlers; tests/unit/list-routes.c prints it, and test-manual.py compares that with wheelcache(1). Constant data.
// Any thread.

// The worker pool that runs handle_worker, or the body handler of receive.
enum route_pool {
	ROUTE_POOL_NONE,      // no worker: handle_inline always answers
	ROUTE_POOL_PAGES,     // shared by all pages
	ROUTE_POOL_PLATFORM,  // of the platform that the path names, whose volume may hang
	ROUTE_POOL_SEARCHES,  // few at a time, shared by address and token, with a time limit
	ROUTE_POOL_SUMMARIES, // the same, for answers that are not cached
	ROUTE_POOL_COUNT,
};

// What the client must be allowed to do. routes.c checks the first three before it calls a handler; the handlers check
// the others, because these depend on what they find.
enum route_right {
	ROUTE_RIGHT_NONE,          // everybody gets the same answer
	ROUTE_RIGHT_READ_VIEW,     // read the view in the path, which is then in match->found_view
	ROUTE_RIGHT_READ_PLATFORM, // read the platform in the path
	// upload to the platform in the path: the handler writes the audit log, and rechecks the right after the body
	ROUTE_RIGHT_UPLOAD,
	// another right of a token, such as to promote: the same
	ROUTE_RIGHT_OF_TOKEN,
	ROUTE_RIGHT_BY_DATA, // the handler leaves out, or refuses, what the client may not read
	ROUTE_RIGHT_COUNT,
};

struct route {
	// A part that begins with ":" is any, and goes to the field of struct route_match with its name: ":view". A
	// path that ends in "/" is redirected to from the same path without it.
	const char *path;
	// METHOD_GET stands for HEAD too. A path with two methods has two rows, one behind the other, and the parts may
	// have other names.
	enum method method;
	enum route_pool pool;
	enum metric_route metric; // the label "route" of the request's numbers in /-/metrics
	enum route_right right;
	handle_inline_fn *handle_inline; // NULL: always on a worker
	handle_worker_fn *handle_worker; // NULL: handle_inline always answers, or the method is POST
	receive_fn *receive;             // of METHOD_POST
	const char *about;               // the first sentence of the manual's text
	const struct page_row *page;         // of page_inline and page_worker
};

extern const struct route route_table[];
extern const size_t route_table_count;

// The field for a part, with its ":".
struct str *route_part(struct route_match *match, struct str part);

extern const char *const route_pool_name[ROUTE_POOL_COUNT];
extern const char *const route_right_name[ROUTE_RIGHT_COUNT];
