// SPDX-License-Identifier: Apache-2.0
// The page for people at "/": what is here, and the lines to copy. The page itself is made in server/handlers/home-page.
#pragma once

#include "server/core/server-context.h"

struct reply *home_page(struct server_context *s, struct catalog *c, const struct route_match *match);
