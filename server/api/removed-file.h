// SPDX-License-Identifier: Apache-2.0
// The answer for a file whose bytes were deleted and whose tombstone is there. A worker thread.
#pragma once

#include "server/core/server-context.h"

// 302 to upstream's file if that is the same file, or if [prune] redirect allows it. Else 410, with the reason, the
// time, and what upstream has. NULL: the catalog has no tombstone of this name, or the file is of another project than
// the URL's. The caller drops the reply.
struct reply *removed_file_reply(struct server_context *s, struct catalog *c, const struct platform *p,
	const struct route_match *match, const char *filename, bool is_metadata);
