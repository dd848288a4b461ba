// SPDX-License-Identifier: Apache-2.0
// Files of upstream under URLs of ours, /files/upstream/<project>/<file>, which stay: lock files hold them. They come from the
// depot, or from upstream by way of it.
#pragma once

#include "server/core/server-context.h"

// Such a file, and its .metadata (PEP 658). Where only private views merge, they are for those who may read one of them.
struct reply *proxy_inline(struct server_context *s, const struct route_match *match);
struct reply *proxy_worker(struct server_context *s, struct catalog *c, const struct route_match *match);
