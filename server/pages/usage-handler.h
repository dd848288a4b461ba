// SPDX-License-Identifier: Apache-2.0
// /-/usage/: how many files and bytes there are of what, as wheelcache usage says it, of the platforms and projects that
// the client may read: a page for people, JSON and CSV. What everybody may read is kept in the page cache, as long as
// packed-reply.h says; what only the client may read is not. Any thread.
#pragma once

#include "server/core/server-context.h"

struct reply *usage_handler_inline(struct server_context *s, const struct route_match *match);
struct reply *usage_handler_worker(struct server_context *s, struct catalog *c, const struct route_match *match);
