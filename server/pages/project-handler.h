// SPDX-License-Identifier: Apache-2.0
// Answers /-/project/NAME. Any thread.
#pragma once

#include "server/core/server-context.h"

struct reply *project_handler_inline(struct server_context *s, const struct route_match *match);
struct reply *project_handler_worker(struct server_context *s, struct catalog *c, const struct route_match *match);
