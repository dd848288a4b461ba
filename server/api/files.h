// SPDX-License-Identifier: Apache-2.0
// The files of the store under their URLs, the METADATA of wheels beside them (PEP 658), and their attachments:
// FILE.intoto.json, and FILE.provenance (PEP 740).
//
// files_inline runs on the event loop, files_worker on a worker thread; the caller drops the replies.
#pragma once

#include "server/core/server-context.h"

struct reply *files_inline(struct server_context *s, const struct route_match *match);
struct reply *files_worker(struct server_context *s, struct catalog *c, const struct route_match *match);
// Keeps a reply in the page cache, for files_inline() of the same path, for so many seconds. Takes a reference. Any
// thread.
void files_cache_reply(struct server_context *s, const struct route_match *match, struct reply *r, unsigned seconds);
