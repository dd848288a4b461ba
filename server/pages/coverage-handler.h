// SPDX-License-Identifier: Apache-2.0
// /-/coverage: which wheels many projects have, by platform and Python: a page for people, JSON and CSV. What everybody may
// read is kept in the page cache, as long as packed-reply.h says; what only the client may read is not. Any thread.
#pragma once

#include "server/core/server-context.h"

struct reply *coverage_handler_inline(struct server_context *s, const struct route_match *match);
struct reply *coverage_handler_worker(struct server_context *s, struct catalog *c, const struct route_match *match);
