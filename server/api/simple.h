// SPDX-License-Identifier: Apache-2.0
// The simple API (PEP 503, 691): the list of projects and a page for each project, in the format and coding that the
// client prefers.
//
// The _inline functions run on the event loop, the _worker functions on a worker thread. Both need match->found_view.
// The caller drops the replies.
#pragma once

#include "server/core/server-context.h"

struct reply *simple_root_inline(struct server_context *s, const struct route_match *match);
struct reply *simple_root_worker(struct server_context *s, struct catalog *c, const struct route_match *match);
struct reply *simple_project_inline(struct server_context *s, const struct route_match *match);
struct reply *simple_project_worker(struct server_context *s, struct catalog *c, const struct route_match *match);
