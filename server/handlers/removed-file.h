// SPDX-License-Identifier: Apache-2.0
// Files whose bytes are gone and whose tombstone is there: where their URL leads now. On a worker.
#pragma once

#include "server/core/server-context.h"

// 302 to upstream's file where that is the same one, or where [prune] redirect says so; else 410, which says why, when,
// and what upstream has. NULL: there is no tombstone of this name, or the URL's project is not the file's.
struct reply *removed_file_reply(struct server_context *s, struct catalog *c, const struct platform *p,
	const struct route_match *match, const char *filename, bool is_metadata);
