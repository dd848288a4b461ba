// SPDX-License-Identifier: Apache-2.0
// Requests as libmicrohttpd has them: their values, the checks of their header, and the client that sent them. Called on the
// event loop of the connection.
#pragma once

#include "server/http/connection.h"
#include "server/message/request-check.h"
#include "server/message/trusted-proxies.h"

// The request under way. The caller releases it.
struct request mhd_request_read(struct connection *c, const char *url, const char *method);
// Sets c->client, once for each request of a trusted proxy.
void mhd_request_note_client(struct connection *c, const struct trusted_proxies *proxies);
struct request_check mhd_request_check(struct connection *c, const char *method, const char *version);
