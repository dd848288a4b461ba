// SPDX-License-Identifier: Apache-2.0
// Follows the catalog: what any process commits shows here at once, by the change
// count, or within a quarter of a second where there is none. It alone changes the name
// set, drops pages, and counts totals.
#pragma once

#include "server/core/server-context.h"

struct catalog_watch;

// Reads the whole catalog once before it returns, then follows it in a thread of its own.
struct catalog_watch *catalog_watch_start(struct server_context *s, struct err *e) MUST_CHECK;
// After a reload: the platforms of the site may be others, and the catalog another file.
void catalog_watch_reopen(struct catalog_watch *w);
void catalog_watch_stop(struct catalog_watch *w); // NULL is fine
