// SPDX-License-Identifier: Apache-2.0
// /-/search: projects by name, for people and as JSON, from memory. A client finds the projects of the platforms that it
// may read. Any thread.
#pragma once

#include "server/core/server-context.h"

struct reply *search_handler_worker(struct server_context *s, struct catalog *c, const struct route_match *match);
