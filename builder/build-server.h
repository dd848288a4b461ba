// SPDX-License-Identifier: Apache-2.0
// What a wheelcache server answers to the builder: 2xx, or an error with the server's reason. Pure; any thread.
#pragma once

#include <stdbool.h>

#include "builder/missing/missing.h"
#include "lib/base/err.h"
#include "lib/net/fetch.h"
#include "lib/state/config/config.h"
#include "lib/state/results/results.h"
#include "lib/state/store/store.h"

// 0 for 2xx. Otherwise the error has the URL, the status and the server's reason: ERR_USAGE for 400, ERR_DENIED for 401
// and 403, ERR_NOT_FOUND for 404 and 405, ERR_NET for 408, 429 and 5xx (another try may succeed), ERR_INVALID for the
// others.
int server_answer_check(const struct fetch_answer *a, const char *url, struct err *e) MUST_CHECK;
// Copies a base URL, which gets "/" at its end; the caller frees it. NULL with ERR_USAGE if it is none, or has a user
// name, which all users of the machine could read. option: for the message.
char *server_answer_base(const char *url, const char *option, struct err *e) MUST_CHECK;

// Where a builder learns what is missing: from a server, or from its own configuration, store and catalog. One thread
// at a time.

struct rebuild_set;
struct row_source;

// From the server of this base URL, with "/" at its end. rebuild: wheels that count as not there; NULL: none. Borrows
// the texts, rebuild, and what options point to. The caller closes it.
struct row_source *row_source_of_server(const char *base, const char *platform, const struct rebuild_set *rebuild,
	const struct fetch_options *options);
// From our own store and results. ERR_USAGE: no such platform. Errors of store.h and
// catalog.h. rebuild: as above. Borrows config, platform and rebuild.
int row_source_of_store(const struct config *config, const char *catalog, const char *platform,
	const struct rebuild_set *rebuild, struct row_source **out, struct err *e) MUST_CHECK;
void row_source_close(struct row_source *s);    // NULL is fine

// What is missing, failed or awaiting on the platform now: for this Python and this project (NULL: all). ERR_NET: the
// server does not answer, another try may succeed; ERR_NOT_FOUND, ERR_USAGE: it has no such platform; ERR_DENIED: the
// token. The caller releases *out if this returns 0.
int row_source_list(struct row_source *s, const char *python, const char *project, struct missing *out,
	struct err *e) MUST_CHECK;
// Of our own store; NULL if the source is a server.
const struct platform *row_source_platform(const struct row_source *s);

// Sends attempts to the server that is fed, POST /-/builds/PLATFORM/: each once it has ended, and those that could not
// be sent before. Nothing here fails: what is not sent stays in the file of results, for the next run. One thread at a
// time.

struct result_sender;

// base: the server's URL with "/" at its end. Borrows results, and what options point to. The caller closes it.
struct result_sender *result_sender_new(const char *base, const char *platform, const struct fetch_options *options,
	struct results *results);
void result_sender_free(struct result_sender *s);     // NULL is fine

// Asks whether the server takes results with this token, before hours are spent on builds: ERR_DENIED if not. Another
// failure, as of a server without results, is none here.
int result_sender_probe(struct result_sender *s, struct err *e) MUST_CHECK;
// Sends one attempt, which is in the results, with its log, and marks it there. A server that does not take it, or does
// not answer, is logged once.
void result_sender_send(struct result_sender *s, const char *id);
// Sends all that were not sent. Returns the number of those that are left.
size_t result_sender_flush(struct result_sender *s);
