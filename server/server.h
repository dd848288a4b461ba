// SPDX-License-Identifier: Apache-2.0
// The server: put together, started, reloaded, stopped. All functions from one thread.
#pragma once

#include <stdbool.h>

#include "lib/base/err.h"
#include "lib/state/config/config.h"
#include "lib/view/view.h"
#include "server/core/server-callbacks.h"
#include "server/http/tls.h"

struct server;

struct server_options {
	const struct config *config; // borrowed for the call
	const char *catalog_path;
	int socket;                               // of listen_open(); the server's, where it starts
	const char *url;                          // what listen_open() says it is
	bool is_filled;                           // a scan has looked at every platform, now or once
	struct tls *tls;                          // NULL: plain HTTP; borrowed, as long as the server lives
	const struct server_callbacks *callbacks; // borrowed, as long as the server lives
};

// Serves once it returns. Takes the site over, also where it fails.
struct server *server_start(const struct server_options *options, struct site *site, struct err *e) MUST_CHECK;
const char *server_url(const struct server *s);
// What is configured anew: platforms, views, freshness, what uploads are taken; and the catalog may be another file. Takes
// the site over, also where it fails: then all is as it was. Requests under way end with the old one.
int server_reload(struct server *s, const struct config *config, struct site *site, struct err *e) MUST_CHECK;
// Opens the access log again under its name: the old file was moved away.
void server_reopen_log(struct server *s);
// The catalog holds what a whole scan saw: from now on what is not in it is not there.
void server_set_filled(struct server *s);
// Ends downloads in a bounded time, then everything. NULL is fine.
void server_stop(struct server *s);
