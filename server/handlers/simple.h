// SPDX-License-Identifier: Apache-2.0
// The simple API: the list of projects and a page a project, in the form and coding that the client likes best.
#pragma once

#include "server/core/server-context.h"

struct reply *simple_root_inline(struct server_context *s, const struct route_match *match);
struct reply *simple_root_worker(struct server_context *s, struct catalog *c, const struct route_match *match);
struct reply *simple_project_inline(struct server_context *s, const struct route_match *match);
struct reply *simple_project_worker(struct server_context *s, struct catalog *c, const struct route_match *match);
