// SPDX-License-Identifier: Apache-2.0
// /-/plan/: the last plan of a prune, for people. plan-page.c writes the page. A worker thread.
#pragma once

#include "server/core/server-context.h"

// A handle_worker_fn. Lists the platforms that the client may read; a private one that it names needs a token.
struct reply *plan_handler_worker(struct server_context *s, struct catalog *c, const struct route_match *match);
