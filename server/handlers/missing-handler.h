// SPDX-License-Identifier: Apache-2.0
// /-/missing/PLATFORM: what is missing, from what the catalog knows; upstream is not asked. An answer is kept until
// the catalog changes, but only for some seconds, longer if it took long to make, because the files of branches and the
// results of builds change too. So many requests cost little. Any thread.
#pragma once

#include "server/core/server-context.h"

struct reply *missing_handler_inline(struct server_context *s, const struct route_match *match);
struct reply *missing_handler_worker(struct server_context *s, struct catalog *c, const struct route_match *match);
