// SPDX-License-Identifier: Apache-2.0
// Answers /-/client-config/VIEW: the configuration of clients and CI systems for an index of this server, as a page for
// people and as JSON. A worker thread.
#pragma once

#include "server/core/server-context.h"

struct reply *client_handler_worker(struct server_context *s, struct catalog *c, const struct route_match *match);
