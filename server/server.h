// SPDX-License-Identifier: Apache-2.0
// The server: put together, started, reloaded, stopped. All functions from one thread but server_set_scanning().
#pragma once

#include <stdbool.h>

#include "lib/base/err.h"
#include "lib/state/config.h"
#include "lib/view/view.h"

struct server;

struct server_options {
	const struct config *config; // borrowed for the call
	const char *catalog_path;
	bool filled;                // the catalog holds what a whole scan saw
	void (*on_stale)(void *ctx); // a file on the disk is not what the catalog says; any thread; may be NULL
	void *on_stale_ctx;
};

// Serves once it returns. Takes the site over, also where it fails.
struct server *server_start(const struct server_options *options, struct site *site, struct err *e) MUST_CHECK;
const char *server_url(const struct server *s);
// What is configured anew: platforms, views, freshness. Takes the site over. Requests under way end with the old one.
void server_reload(struct server *s, struct site *site);
// Tells what the process does with the catalog, for /-/health, /-/ready and the page for people. Any thread.
void server_set_scanning(struct server *s, bool scanning, bool filled);
// Ends downloads in a bounded time, then everything. NULL is fine.
void server_stop(struct server *s);
