// SPDX-License-Identifier: Apache-2.0
// The state of a connection, shared by server/http/http and server/http/mhd-response. Its event loop has it, or one
// worker while the request is suspended.
#pragma once

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
