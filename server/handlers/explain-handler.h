// SPDX-License-Identifier: Apache-2.0
// /-/explain/<view>/<project>[/<version>]: why a wheel is or is not to be had, as JSON, or as text with ?format=text. The
// default view is "simple". What upstream has is what the catalog has of it: nobody is asked.
#pragma once

#include "server/core/server-context.h"

struct reply *explain_handler_worker(struct server_context *s, struct catalog *c, const struct route_match *match);
