// SPDX-License-Identifier: Apache-2.0
// /-/builds/, /-/builds/PROJECT/ and /-/builds/PROJECT/ID: the results of builds, as pages for people and as JSON, and
// logs as plain text. A client sees the attempts of the platforms that it may read. The functions fit route-table.h.
#pragma once

#include "server/core/server-context.h"

struct reply *builds_handler_all(struct server_context *s, struct catalog *c, const struct route_match *match);
struct reply *builds_handler_project(struct server_context *s, struct catalog *c, const struct route_match *match);
struct reply *builds_handler_log(struct server_context *s, struct catalog *c, const struct route_match *match);
