// SPDX-License-Identifier: Apache-2.0
// All that a server has because its views merge what upstream has: in the server context, from upstream_setup_start() to upstream_setup_stop().
#pragma once

#include "lib/state/config/config.h"
#include "server/core/server-context.h"

// Where no view merges, nothing happens. c is borrowed until upstream_setup_stop().
int upstream_setup_start(struct server_context *s, const struct config *c, struct err *e) MUST_CHECK;
// What a reload may change of it: how long what upstream said counts, whether it is asked, and how much
// of its files is kept. Any thread.
void upstream_setup_configure(struct server_context *s, const struct config *c);
// To be called about once a second: those whose clients have left wait no more, and what nobody waits for is dropped.
void upstream_setup_let_go(struct server_context *s);
// Who waits for upstream is woken, now and from now on. Any thread.
void upstream_setup_cancel(struct server_context *s);
// Who waits for a page is told that there is none: the server stops, and clients ask again. Files that are coming come.
void upstream_setup_hurry(struct server_context *s);
// What is under way ends. When nobody answers requests or follows the catalog any more; also where it did not start.
void upstream_setup_stop(struct server_context *s);
