// SPDX-License-Identifier: Apache-2.0
// Many requests at once, over few connections (HTTP/2 where the other side has it), in one thread. Redirects are followed
// here: to the same host, or to one that is allowed, five at most.
//
// The callbacks come from the thread that runs the pool: fetch_pool_run()'s caller, or the pool's own. They may call
// everything here but fetch_pool_run() and fetch_pool_free(), and must not block: all requests wait meanwhile. get,
// cancel and call are for any thread.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "lib/net/fetch.h"
#include "lib/net/fetch-failure.h"

enum { FETCH_REDIRECTS = 5 };

struct fetch_pool_options {
	struct fetch_options fetch; // without user, password and progress: a URL may have them, or netrc
	unsigned concurrency;       // requests under way at once; others wait for their turn
	const char *allow_hosts; // where redirects may lead besides the host itself, with blanks between; NULL: nowhere
	bool allow_private;      // redirects may lead to private, loopback and link-local addresses
};

struct fetch_pool;

// What the options point to is copied.
struct fetch_pool *fetch_pool_new(const struct fetch_pool_options *options);
// Cancels what is left (each on_done is called, in this thread), ends the pool's own thread. NULL is fine.
void fetch_pool_free(struct fetch_pool *p);

struct fetch_result {
	enum fetch_failure failure;
	const char *why;                   // in words, with the URL; "" for FETCH_WHOLE
	const char *url;                   // that answered, after redirects
	const struct fetch_answer *answer; // what came; status 0: nothing
};

struct fetch_request {
	const char *url; // http: or https:; may hold user and password, which no callback and no message shows
	const char *const *headers; // lines "Name: value", NULL at the end; NULL: none
	// The URL that the operator wrote and that led to this one, where it did not come from him: another origin than
	// that one's gets no password, and is reached at no private address. NULL: url is the operator's.
	const char *home;
	uint64_t delay_ms;      // not before so long from now
	unsigned total_seconds; // for the whole of it, once it has its turn; 0: as long as bytes come
	uint64_t limit;         // of the body
	// A GET's status and headers, of the last answer only; NULL: nobody is told.
	enum fetch_flow (*on_head)(void *ctx, const struct fetch_answer *answer, const char *url);
	// A piece of the body, decoded unless is_raw; NULL: it is collected in the answer.
	enum fetch_flow (*on_body)(void *ctx, struct str piece);
	bool is_raw; // the body as it is, without asking for compression: a file and ranges of it
	// Exactly once, as the last of all. Everything is borrowed for the call.
	void (*on_done)(void *ctx, const struct fetch_result *result);
	void *ctx;
};

// The request, which is copied, for cancel; never 0. A bad URL fails as any other: on_done tells, later.
uint64_t fetch_pool_get(struct fetch_pool *p, const struct fetch_request *request);
// 0: all there are. What is done already is left alone.
void fetch_pool_cancel(struct fetch_pool *p, uint64_t request);
// Has the thread that runs the pool call fn; for fetch_pool_run() this is work as requests are. Where the pool is freed
// before, that is where it is called.
void fetch_pool_call(struct fetch_pool *p, void (*fn)(void *ctx), void *ctx);

// Runs them in this thread until none is left, nor waits.
void fetch_pool_run(struct fetch_pool *p);
// Has a thread of its own run them until fetch_pool_free(). Not beside fetch_pool_run().
void fetch_pool_start(struct fetch_pool *p);
