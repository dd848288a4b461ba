// SPDX-License-Identifier: Apache-2.0
// What of libmicrohttpd the server uses beside its daemon (http): connections with their requests and answers, and
// workarounds for its bugs. A connection's event loop has it, or one worker while the request is suspended.
#pragma once

#include <stdbool.h>

#include "server/http/accesslog.h"
#include "server/http/answers.h"
#include "server/http/connections.h"
#include "server/http/listen.h"
#include "server/http/request-body.h"
#include "server/message/reply.h"
#include "server/message/request.h"
#include "server/message/stream.h"

struct http;
struct MHD_Connection;

// Requests of a connection follow one another, so their state is in here as well: a request without a body needs no
// allocation.
struct connection {
	struct connection_link link;
	struct http *http;
	struct connections *connections;
	struct MHD_Connection *mhd;
	struct str target;                // as sent, in the library's buffer
	struct request request;           // the request under way
	struct answer_reader reader;      // of the answer
	struct reply *reply;              // the answer of the request under way; NULL: none yet
	struct request_body *body;        // NULL: the request has none, or it is complete
	struct continuation continuation; // while the request waits for another module
	char peer[REQUEST_PEER];   // the other end's address; "unix" for a socket file
	char client[REQUEST_PEER]; // that of the client of the request under way, as trusted proxies say
	bool is_proxy;             // the other end is a trusted proxy
	struct accesslog_line line;
};

// Resumes a suspended connection on its event loop. Any thread. The connection may be freed when the call returns.
void connection_resume(struct connection *c);
// Answers a suspended connection with 503 and resumes it; the rest of its body is discarded first. Any thread.
void connection_refuse(struct connection *c, const char *why);
// Writes the line of the request that has been answered.
void connection_log(struct connection *c, FILE *access_log);
struct connection *connection_of_continuation(struct continuation *w);

// --- requests: their values, the checks of their header, and the client that sent them. On the event loop ---

// The request under way. The caller releases it.
struct request mhd_request_read(struct connection *c, const char *url, const char *method);
// Sets c->client, once for each request of a trusted proxy.
void mhd_request_note_client(struct connection *c, const struct trusted_proxies *proxies);
struct request_check mhd_request_check(struct connection *c, const char *method, const char *version);

// --- answers ---

// Queues c->reply. The event loop's thread only. A stream is read as fast as the client reads; while it has no bytes,
// the connection is suspended. False: the caller closes the connection.
bool mhd_response_queue(struct connection *c);

// --- workarounds. Any thread ---
//
// Commits are those of its repository, which was read up to April
// 2025.
//
// Where epoll returns as many events as libmicrohttpd has room for, it calls epoll_wait() again before it handles them,
// and lets it block (1.0.1 as well). If each of these clients waits for its answer, no event comes, and all connections
// of the thread stall until one times out. So this module defines an epoll_wait() that replaces the C library's and
// never fills the room. It applies to the whole program: no caller may rely on getting all events at once.
// Upstream: the loop "while (MAX_EVENTS == num_events)" of MHD_epoll(), since commit 9fe0e9d4 (2013); the same in
// 0.9.75, in 1.0.1 and after it. Not reported upstream.

// libmicrohttpd gives an added descriptor to the loop number fd modulo loops. Where other descriptors come between
// those of connections, many loops get no connection. Returns a duplicate of fd that belongs to the given loop, and
// closes fd; if no descriptor is free, returns fd.
// Upstream: intended ("we use the socket as the initial offset into the pool for load balancing", in daemon.c); the
// same in 0.9.75, in 1.0.1 and after it. Not reported upstream.
int mhd_workarounds_for_loop(int fd, unsigned loop, unsigned loops);
