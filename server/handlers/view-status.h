// SPDX-License-Identifier: Apache-2.0
// What /-/health and /-/metrics say of views with a membership.
#pragma once

#include "lib/format/jsondoc.h"
#include "server/core/server-context.h"

// Puts "silent", the kinds of tests that the view expects and that do not come any more, into its object. Any thread. The
// caller has checked that the client may know of all of the view's platforms.
void view_status_put(struct server_context *s, const struct view *v, struct jsondoc *doc);
// Appends the gauges of views. Private ones are omitted. An error is logged.
void view_status_metrics(struct server_context *s, struct catalog *c, struct buf *out);
