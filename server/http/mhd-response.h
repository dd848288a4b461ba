// SPDX-License-Identifier: Apache-2.0
// How a reply goes out on a connection, by libmicrohttpd. It and server/http/http alone know that library.
#pragma once

#include <stdbool.h>

#include "server/http/connection.h"

// Sends c->reply, from the event loop of its connection. A page that was sent before costs no formatting; a stream is
// read as the client takes it, who sleeps where there is nothing yet. False: the connection is to be closed.
bool mhd_response_queue(struct connection *c);
