// SPDX-License-Identifier: Apache-2.0
// Files of upstream under URLs of ours, /files/upstream/<project>/<file>, and their METADATA (PEP 658). The URLs are
// stable, because lock files hold them. The bytes come from the file cache, or from upstream through it.
//
// If only private views merge, the client must be allowed to read one of them.
#pragma once

#include "server/core/server-context.h"

// On the event loop.
struct reply *proxy_inline(struct server_context *s, const struct route_match *match);
// On a worker thread. NULL: the continuation is kept until upstream has answered.
struct reply *proxy_worker(struct server_context *s, struct catalog *c, const struct route_match *match);
