// SPDX-License-Identifier: Apache-2.0
// /-/explain/: why a view has the files of a project that it has, as JSON or text (explainer/explain.h). A worker
// thread.
#pragma once

#include "server/core/server-context.h"

// A handle_worker_fn. match->version is empty for all.
struct reply *explain_handler_worker(struct server_context *s, struct catalog *c, const struct route_match *match);
