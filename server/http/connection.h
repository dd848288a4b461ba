// SPDX-License-Identifier: Apache-2.0
// A connection as server/http/http and server/http/mhd-response share it.
#pragma once

#include "server/http/accesslog.h"
#include "server/http/connections.h"
#include "server/http/listen.h"
#include "server/http/request-body.h"
#include "server/message/reply.h"
#include "server/message/request.h"
#include "server/message/stream.h"

struct http;
struct MHD_Connection;

// A connection. It answers one request after the other, so what belongs to the request under way is here too and
// a request without a body allocates nothing.
struct connection {
	struct connection_link link;
	struct http *http;
	struct connections *connections;
	struct MHD_Connection *mhd;
	struct str target;                // in the library's buffer
	struct request request;           // while a worker has it
	struct reply *reply;              // chosen, not dropped yet
	struct request_body *body;        // NULL where the request has none, or after it
	struct continuation continuation; // while it sleeps for something from elsewhere
	char peer[LISTEN_PEER];
	struct accesslog_line line;
};

// Who sleeps goes on, on his event loop. Any thread; afterwards the connection may be gone.
void connection_resume(struct connection *c);
struct connection *connection_of_continuation(struct continuation *w);
