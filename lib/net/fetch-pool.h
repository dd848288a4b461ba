// SPDX-License-Identifier: Apache-2.0
// Runs many HTTP GET requests at once in one thread, over few connections (HTTP/2 if the server supports it).
// It follows up to five redirects of a request, to the same host or to an allowed one.
//
// The callbacks run in the thread that runs the pool: the caller of fetch_pool_run(), or the pool's own thread. They
// may call every function here except fetch_pool_run() and fetch_pool_free(). They must not block, since all requests
// share the thread. Any thread may call fetch_pool_get(), fetch_pool_cancel() and fetch_pool_call(); the other
// functions are for the thread that owns the pool.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "lib/net/fetch.h"

enum { FETCH_REDIRECTS = 5 };

struct fetch_pool_options {
	struct fetch_options fetch; // without user, password and progress; URLs and netrc may give passwords
	unsigned concurrency;       // how many requests run at once; the others are queued
	const char *allow_hosts;    // other hosts that redirects may lead to, separated by blanks; NULL: none
	// Of fetch_password_read(), read for each request; NULL: none. A password in a URL goes before. A file that
	// cannot be used is FETCH_PASSWORD, and the log says why.
	const char *password_file;
	bool allow_private;         // redirects may lead to private, loopback and link-local addresses
};

struct fetch_pool;

// Copies the options and what they point to. Memory that runs out ends the process.
struct fetch_pool *fetch_pool_new(const struct fetch_pool_options *options);
// Ends the pool's own thread, cancels the remaining requests and calls their on_done in the calling thread. NULL is
// fine.
void fetch_pool_free(struct fetch_pool *p);

struct fetch_result {
	enum fetch_failure failure;
	const char *why;                   // a sentence with the URL; "" for FETCH_WHOLE
	const char *url;                   // of the last request, after redirects
	const struct fetch_answer *answer; // what arrived; status 0: nothing
};

struct fetch_request {
	const char *url;            // http: or https:; callbacks and messages do not show a user and password in it
	const char *const *headers; // lines "Name: value", NULL at the end; NULL: none
	// The configured URL that led to this one, if url comes from another server. A request to another origin than
	// configured_url's gets no password and may not reach a private address. NULL: url itself is configured.
	const char *configured_url;
	uint64_t delay_ms;      // starts the request this long from now, or later
	unsigned total_seconds; // time limit from its start to its end; 0: none but the one for a stall
	uint64_t limit;         // of the body, in bytes
	// Called with status and headers of the last response, not of redirects. NULL is fine.
	enum fetch_flow (*on_head)(void *ctx, const struct fetch_answer *answer, const char *url);
	// Called with each piece of the body, decompressed unless is_raw. NULL: the answer collects the body.
	enum fetch_flow (*on_body)(void *ctx, struct str piece);
	bool is_raw; // asks for no compression: for a file and its ranges
	// Called exactly once, after all other callbacks. What result points to is borrowed for the call.
	void (*on_done)(void *ctx, const struct fetch_result *result);
	void *ctx;
};

// Queues a copy of the request and returns its number, which is never 0, for fetch_pool_cancel. It never fails: a
// malformed URL is reported by on_done, later.
uint64_t fetch_pool_get(struct fetch_pool *p, const struct fetch_request *request);
// Cancels a request; 0 cancels all. Does nothing if the request has ended.
void fetch_pool_cancel(struct fetch_pool *p, uint64_t request);
// Calls fn in the thread that runs the pool, or in fetch_pool_free() if the pool is freed before. fetch_pool_run() does
// not return before it has called fn.
void fetch_pool_call(struct fetch_pool *p, void (*fn)(void *ctx), void *ctx);

// Runs the pool in the calling thread until all requests and calls are done.
void fetch_pool_run(struct fetch_pool *p);
// Starts a thread that runs the pool until fetch_pool_free(). Not together with fetch_pool_run().
void fetch_pool_start(struct fetch_pool *p);
