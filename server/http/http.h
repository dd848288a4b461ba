// SPDX-License-Identifier: Apache-2.0
// HTTP/1.1 on a socket, by libmicrohttpd: requests in, replies out.
//
// Two callbacks answer: handle_inline runs on the event loop and must not block; where it returns NULL, handle_worker
// runs on a worker thread while the connection is suspended. Several threads may call both at once. A body_handler
// takes the body of a request. http_start() and http_stop() are called by one thread.
#pragma once

#include <stdio.h>

#include "lib/base/err.h"
#include "server/http/answers.h"
#include "server/http/tls.h"
#include "server/message/body-handler.h"
#include "server/message/request.h"

struct http;

struct http_options {
	int socket;           // of listen_open(); taken over where http_start() succeeds
	const char *url;      // as listen_open() sets it; copied
	bool is_passed;       // of passed_socket_take(): other processes accept from the socket as well
	unsigned threads;     // event loops
	unsigned connections; // limit; further ones are not accepted yet
	unsigned timeout;     // seconds without progress or complete request header, after which a connection ends
	struct tls *tls;      // borrowed; NULL: plain HTTP
	struct answers *answers; // borrowed: what clients have not read
	FILE *access_log;     // borrowed; NULL: none
	const struct trusted_proxies *proxies; // borrowed; NULL: none
	// Returns a reference, which http drops; NULL: handle_worker answers.
	struct reply *(*handle_inline)(void *ctx, struct request *request);
	// The same. NULL: another module has the continuation and resumes it; then handle_worker is called again. The
	// callback touches nothing of the request after it has passed the continuation on.
	struct reply *(*handle_worker)(void *ctx, const struct request *request, struct continuation *continuation);
	// Called about once a second, after has_left of all continuations was updated. NULL: not called.
	void (*on_checked)(void *ctx);
	// The server stops: resumes all continuations, now and from now on. NULL: not called.
	void (*cancel)(void *ctx);
	// Runs on the event loop, when the header of a request that is neither GET nor HEAD has arrived, and must not
	// block. Returns the handler of a POST's body. NULL, with *refusal, which http drops: the request is refused,
	// as are all other methods. request is valid during the call. A client that sent Expect gets the refusal at
	// once. Of other clients the body is read first, as they would not read the answer before.
	struct body_handler *(*receive)(void *ctx, struct request *request, struct reply **refusal);
	// The number of the worker pool for a request, see worker_pools_pick(). Bodies have pools of their own.
	unsigned (*pool)(void *ctx, const struct request *request);
	// The name of a request's token, which http frees; NULL: none. It shares the pools for expensive requests. The
	// callback is NULL where there are no tokens.
	char *(*token)(void *ctx, const struct request *request);
	// Called on the event loop after an answer. NULL: not called. Of the request only method and metric are set
	// where it was refused before handle_inline or receive was called.
	void (*on_answered)(void *ctx, const struct request *request, unsigned status, uint64_t bytes);
	// Called on the event loop after all of an answer was sent that counts as a download. NULL: not called.
	void (*on_downloaded)(void *ctx, const struct request *request, const struct download_count *count);
	void *ctx;
};

struct http *http_start(const struct http_options *options, struct err *e) MUST_CHECK;
// "http://127.0.0.1:8080/" or "unix:/run/wheelcache.sock". Valid until http_stop(). Any thread.
const char *http_url(const struct http *h);
// Accepts no more connections, waits at most grace seconds for the requests under way, then stops and frees. Clients of
// a passed socket lose no request: those that have just connected, or whose connection is kept, are answered too, and
// told to connect again. NULL is fine.
void http_stop(struct http *h, unsigned grace);
