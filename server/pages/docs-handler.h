// SPDX-License-Identifier: Apache-2.0
// Handlers of /-/docs/, the index of the documentation by role, and /-/docs/PAGE. Any thread.
#pragma once

#include "server/core/server-context.h"

struct reply *docs_handler_index(struct server_context *s, struct catalog *c, const struct route_match *match);
struct reply *docs_handler_page(struct server_context *s, struct catalog *c, const struct route_match *match);
