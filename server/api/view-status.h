// SPDX-License-Identifier: Apache-2.0
// What /-/health and /-/metrics say of views with a membership.
#pragma once

#include "lib/format/jsondoc.h"
#include "server/core/server-context.h"

// Puts "silent", the kinds of tests that the view expects and that do not come any more, "lost-files", the number of its
// members that the store has lost, and "lost", the first of them, into its object. Any thread, as for the next one. The
// caller has checked that the client may know of all of the view's platforms.
void view_status_put(struct server_context *s, const struct view *v, struct jsondoc *doc);
// Whether the store has lost members of the view.
bool view_status_has_losses(struct server_context *s, const struct view *v);
// Appends the gauges of views. Private ones are omitted. An error is logged.
void view_status_metrics(struct server_context *s, struct catalog *c, struct buf *out);
