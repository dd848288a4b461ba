// SPDX-License-Identifier: Apache-2.0
// Sends a reply on a connection by libmicrohttpd. Only http, connection, mhd-request and this module include that library.
#pragma once

#include <stdbool.h>

#include "server/http/connection.h"

// Queues c->reply. The event loop's thread only. A stream is read as fast as the client reads; while it has no bytes,
// the connection is suspended. False: the caller closes the connection.
bool mhd_response_queue(struct connection *c);
