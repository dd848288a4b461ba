// SPDX-License-Identifier: Apache-2.0
// What a server tells of its watch of the store, in /-/health and /-/metrics. It writes nothing where there is none. Any
// thread.
#pragma once

#include "lib/format/jsondoc.h"
#include "server/core/server-context.h"

// Adds "watch" to the document of /-/health. sees_all: the client may read all platforms; else it is not told how many
// folders they have.
void watch_status_put(struct server_context *s, bool sees_all, struct jsondoc *doc);
// Adds "watched" to the object of a platform, and "file-system" where its file system tells nothing of changes.
void watch_status_put_platform(struct server_context *s, const struct platform *p, struct jsondoc *doc);
void watch_status_metrics(struct server_context *s, bool sees_all, struct buf *out);
