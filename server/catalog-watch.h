// SPDX-License-Identifier: Apache-2.0
// Watches the catalog in a thread: what any process commits takes effect at once, by the change count, or within a
// quarter of a second where there is none. The watch alone changes the project filter, drops changed pages and counts
// totals.
//
// One thread calls the functions.
#pragma once

#include "server/core/server-context.h"

struct catalog_watch;

// Reads which files views show, and the totals, before it returns, and all projects afterwards. s is borrowed until the
// stop.
struct catalog_watch *catalog_watch_start(struct server_context *s, struct err *e) MUST_CHECK;
// After a reload: reads everything again, since the site may have other platforms and the catalog may be another file.
void catalog_watch_reopen(struct catalog_watch *w);
void catalog_watch_stop(struct catalog_watch *w); // NULL is fine
