// SPDX-License-Identifier: Apache-2.0
// /-/view/NAME: which platforms a view shows, and whether upstream is merged in, as JSON. A builder learns from it whether
// an index holds the platform that it builds for. From memory; any thread.
#pragma once

#include "server/core/server-context.h"

struct reply *view_handler_inline(struct server_context *s, const struct route_match *match);
