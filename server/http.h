// SPDX-License-Identifier: Apache-2.0
// HTTP/1.1 on a socket, by libmicrohttpd, which no other file knows: requests in, replies out.
//
// Two functions answer: quick runs on the event loop and must not block; where it returns NULL, work runs on a
// worker thread while the connection sleeps. Both may run in several threads at once.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "lib/base/err.h"
#include "server/reply.h"

// Workers come in lanes of a few threads: what hangs in one holds up no other.
enum { HTTP_LANES = 12 };

struct http;

struct http_options {
	int socket;           // of listen_open(); http's, where it starts
	const char *url;      // what listen_open() says it is
	unsigned threads;     // event loops
	unsigned connections; // at most; one more waits to be accepted
	unsigned timeout;     // seconds: no progress, or no whole request header, for so long ends the connection
	FILE *access_log;     // combined log format, a line a request; NULL: none. Borrowed
	struct reply *(*quick)(void *ctx, const struct request *request); // a reference that http drops
	struct reply *(*work)(void *ctx, const struct request *request);  // never NULL
	unsigned (*lane)(void *ctx, const struct request *request); // whose workers do it: any number
	void *ctx;
};

struct http *http_start(const struct http_options *options, struct err *e) MUST_CHECK;
// "http://127.0.0.1:8080/" or "unix:/run/wheelcache.sock". Lives as long as h.
const char *http_url(const struct http *h);
// Accepts no more, lets what is under way end for at most grace seconds, then stops. NULL is fine.
void http_stop(struct http *h, unsigned grace);
