// SPDX-License-Identifier: Apache-2.0
// /-/plan/: the last plan of a prune, for people. The page itself is made in server/handlers/plan-page.
#pragma once

#include "server/core/server-context.h"

struct reply *plan_handler_worker(struct server_context *s, struct catalog *c, const struct route_match *match);
