// SPDX-License-Identifier: Apache-2.0
// The redirect from the name of a view to its index. The page for people at "/" is home_page (page.h).
#pragma once

#include "server/core/server-context.h"

// On the event loop. 302 to the index of the view or platform; 404 where there is none, or the client may not read it.
struct reply *home_view_inline(struct server_context *s, const struct route_match *match);
