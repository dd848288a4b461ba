// SPDX-License-Identifier: Apache-2.0
// Answers for machines: /-/health (the process answers, and what it holds), /-/ready (it may get traffic), /-/metrics (for
// Prometheus).
#pragma once

#include "server/core/server-context.h"

struct reply *machine_health(struct service *s, const struct call *call);
struct reply *machine_ready(struct service *s, const struct call *call);
struct reply *machine_metrics(struct service *s, struct catalog *c, const struct call *call);
