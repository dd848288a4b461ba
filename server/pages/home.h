// SPDX-License-Identifier: Apache-2.0
// The page for people at "/", which home-page.c writes, and the redirect from the name of a view to its index.
#pragma once

#include "server/core/server-context.h"

// The page as it was kept; NULL: home_worker makes it.
struct reply *home_inline(struct server_context *s, const struct route_match *match);
// On a worker thread. The caller drops the reply.
struct reply *home_worker(struct server_context *s, struct catalog *c, const struct route_match *match);
// On the event loop. 302 to the index of the view or platform; 404 where there is none, or the client may not read it.
struct reply *home_view_inline(struct server_context *s, const struct route_match *match);
// The URL of the server: the configured one, or that of the request, without "/" at its end. The caller frees it.
char *home_base_url(const struct server_context *s, const struct site *site, const struct request *r);
