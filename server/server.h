// SPDX-License-Identifier: Apache-2.0
// Assembles, starts, reloads and stops the server. One thread calls all functions.
#pragma once

#include <stdbool.h>

#include "lib/base/err.h"
#include "lib/state/config/config.h"
#include "lib/view/view.h"
#include "server/http/tls.h"

struct catalog;
struct server;
struct store_scans;

struct server_options {
	const struct config *config; // borrowed for the call
	const char *catalog_path;
	struct catalog *catalog; // a connection to it; taken over, also on failure
	int socket;      // of listen_open(); taken over where the server starts
	const char *url; // as listen_open() sets it
	bool is_passed;            // of passed_socket_take()
	bool is_filled;            // a scan has looked at every platform, now or once
	struct tls *tls;           // NULL: plain HTTP; borrowed until the stop
	struct store_scans *scans; // borrowed until the stop
};

// Accepts requests when it returns. Takes the site over, also on failure. server_stop() ends and frees the server.
struct server *server_start(const struct server_options *options, struct site *site, struct err *e) MUST_CHECK;
// See http_url().
const char *server_url(const struct server *s);
// Applies a new configuration: platforms, views, cache lifetimes, upload policy. The catalog may be another file. Takes
// the site over, also on failure: then the old one stays. Requests under way end with the old one.
int server_reload(struct server *s, const struct config *config, struct site *site, struct err *e) MUST_CHECK;
// Opens the access log again after another program has renamed it.
void server_reopen_log(struct server *s);
// The catalog contains a complete scan: from now on a project that it lacks is a 404.
void server_set_filled(struct server *s);
// Waits a limited time for downloads under way, then stops and frees the server. NULL is fine.
void server_stop(struct server *s);
