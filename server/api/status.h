// SPDX-License-Identifier: Apache-2.0
// Answers for monitoring: /-/health (the state of the server), /-/ready (whether it may get traffic), /-/metrics (for
// Prometheus).
#pragma once

#include "server/core/server-context.h"

// On the event loop. Lists private platforms only if the request's token may read them.
struct reply *status_health(struct server_context *s, const struct route_match *match);
// On the event loop.
struct reply *status_ready(struct server_context *s, const struct route_match *match);
// On a worker thread. Private platforms are omitted.
struct reply *status_metrics(struct server_context *s, struct catalog *c, const struct route_match *match);
