// SPDX-License-Identifier: Apache-2.0
// HTTP/1.1 on a socket, by libmicrohttpd, which no other file knows: requests in, replies out.
//
// Two functions answer: quick runs on the event loop and must not block; where it returns NULL, work runs on a
// worker thread while the connection sleeps. Both may run in several threads at once. A request with a body is taken by
// a receiver.
#pragma once

#include <stdio.h>

#include "lib/base/err.h"
#include "server/http/tls.h"
#include "server/message/body-handler.h"

struct http;

struct http_options {
	int socket;           // of listen_open(); http's, where it starts
	const char *url;      // what listen_open() says it is
	unsigned threads;     // event loops
	unsigned connections; // at most; one more waits to be accepted
	unsigned timeout;     // seconds: no progress, or no whole request header, for so long ends the connection
	struct tls *tls;      // NULL: plain HTTP. Borrowed
	FILE *access_log;     // combined log format, a line a request; NULL: none. Borrowed
	struct reply *(*handle_inline)(void *ctx, struct request *request); // a reference that http drops
	// NULL: what the answer needs is not there yet. Again is woken when it is, and the request is worked at once more;
	// whoever keeps again lets go of all else first.
	struct reply *(*handle_worker)(void *ctx, const struct request *request, struct continuation *continuation);
	void (*on_checked)(
		void *ctx); // about once a second, when waiters know whether their clients have left. NULL: nobody waits
	void (*cancel)(void
			*ctx); // the server stops: who waits is to be woken, now and from now on. NULL: nobody waits
	// Runs on the event loop when the header of a request that is neither GET nor HEAD is there, and must not
	// block: who takes the body of a POST; NULL, and *refusal (handed over), where nobody does, as of all other
	// methods. The request does not outlive the call. A client who asks with Expect is refused before he sends
	// his body; of others it is read first, or they would not read the answer.
	struct body_handler *(*receive)(void *ctx, struct request *request, struct reply **refusal);
	unsigned (*pool)(void *ctx, const struct request *request); // whose workers do it: any number.
								    // Bodies have lanes of their own
	// A request was answered. On the event loop. NULL: nothing is counted. Of the request only method and metric are set
	// where it was refused before handle_inline or receive was called.
	void (*on_answered)(void *ctx, const struct request *request, unsigned status, uint64_t bytes);
	void *ctx;
};

struct http *http_start(const struct http_options *options, struct err *e) MUST_CHECK;
// "http://127.0.0.1:8080/" or "unix:/run/wheelcache.sock". Lives as long as h.
const char *http_url(const struct http *h);
// Accepts no more, lets what is under way end for at most grace seconds, then stops. NULL is fine.
void http_stop(struct http *h, unsigned grace);
