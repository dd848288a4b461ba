// SPDX-License-Identifier: Apache-2.0
// The files of the store under their URLs, and the METADATA of wheels beside them (PEP 658).
#pragma once

#include "server/core/server-context.h"

struct reply *files_inline(struct server_context *s, const struct route_match *match);
struct reply *files_worker(struct server_context *s, struct catalog *c, const struct route_match *match);
// Keeps a reply for the quick half, for so many seconds.
void files_keep(struct server_context *s, const struct route_match *match, struct reply *r, unsigned seconds);
