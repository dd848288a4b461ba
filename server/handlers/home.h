// SPDX-License-Identifier: Apache-2.0
// The page for people at "/", which home-page.c writes, and the redirect from the name of a view to its index. Any thread.
#pragma once

#include "server/core/server-context.h"

struct reply *home_page(struct server_context *s, struct catalog *c, const struct route_match *match);
// 302 to the index of the view or platform; 404 where there is none, or the client may not read it.
struct reply *home_view_inline(struct server_context *s, const struct route_match *match);
