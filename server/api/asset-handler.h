// SPDX-License-Identifier: Apache-2.0
// /-/style.css and /-/page.js: what the pages for people load. Clients keep them for a year, because the pages name them
// with their version.
#pragma once

#include "server/core/server-context.h"

// On the event loop, from the page cache; NULL: not in it.
struct reply *asset_handler_style_inline(struct server_context *s, const struct route_match *match);
struct reply *asset_handler_script_inline(struct server_context *s, const struct route_match *match);
// On a worker thread.
struct reply *asset_handler_style(struct server_context *s, struct catalog *c, const struct route_match *match);
struct reply *asset_handler_script(struct server_context *s, struct catalog *c, const struct route_match *match);
