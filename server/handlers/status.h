// SPDX-License-Identifier: Apache-2.0
// Answers for machines: /-/health (the process answers, and what it holds), /-/ready (it may get traffic), /-/metrics (for
// Prometheus).
#pragma once

#include "server/core/server-context.h"

struct reply *status_health(struct server_context *s, const struct route_match *match);
struct reply *status_ready(struct server_context *s, const struct route_match *match);
struct reply *status_metrics(struct server_context *s, struct catalog *c, const struct route_match *match);
