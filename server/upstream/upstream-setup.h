// SPDX-License-Identifier: Apache-2.0
// Starts and stops all that a server needs to merge views with upstream. The parts are fields of the server context,
// and are NULL where no view merges.
#pragma once

#include "lib/state/config/config.h"
#include "server/core/server-context.h"

// Does nothing if no view merges. c is borrowed until upstream_setup_stop(). On an error upstream_setup_stop() cleans
// up. One thread, before the server answers requests. Errors: the file cache's, and those of the file of owned names.
int upstream_setup_start(struct server_context *s, const struct config *c, struct err *e) MUST_CHECK;
// Takes over what a reload may change: cache lifetimes, whether upstream is asked, the size of the file cache. Any
// thread.
void upstream_setup_configure(struct server_context *s, const struct config *c);
// Resumes clients that have left, and drops work that only they wanted. Called about once a second. Any thread.
void upstream_setup_drop_left(struct server_context *s);
// Resumes all clients that wait for upstream, now and from now on. Any thread.
void upstream_setup_cancel(struct server_context *s);
// The same for clients that wait for a page: the server is stopping, and clients ask again. Downloads continue. Any
// thread.
void upstream_setup_cancel_pages(struct server_context *s);
// Ends all requests in flight and frees the parts. One thread, when no other thread answers requests or watches the
// catalog.
void upstream_setup_stop(struct server_context *s);
