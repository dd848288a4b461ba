// SPDX-License-Identifier: Apache-2.0
// Where a builder learns what is missing: from a server, or from its own configuration, store and catalog. One thread
// at a time.
#pragma once

#include <stdbool.h>

#include "lib/base/err.h"
#include "builder/missing/missing.h"
#include "lib/net/fetch.h"
#include "lib/state/config/config.h"
#include "lib/state/store/store.h"

struct rebuild_set;
struct row_source;

// From the server of this base URL, with "/" at its end. rebuild: wheels that count as not there; NULL: none. Borrows the
// texts, rebuild, and what options point to. The caller closes it.
struct row_source *row_source_of_server(const char *base, const char *platform, const struct rebuild_set *rebuild,
	const struct fetch_options *options);
// From our own store; results: the path of the file of results. ERR_USAGE: no such platform. Errors of store.h and
// catalog.h. rebuild: as above. Borrows config, platform and rebuild.
int row_source_of_store(const struct config *config, const char *catalog, const char *results, const char *platform,
	const struct rebuild_set *rebuild, struct row_source **out, struct err *e) MUST_CHECK;
void row_source_close(struct row_source *s);    // NULL is fine
void row_source_cleanup(struct row_source **s); // for CLEANUP

// What is missing, failed or awaiting on the platform now: for this Python and this project (NULL: all). ERR_NET: the
// server does not answer, another try may succeed; ERR_NOT_FOUND, ERR_USAGE: it has no such platform; ERR_DENIED: the
// token. The caller releases *out if this returns 0.
int row_source_list(struct row_source *s, const char *python, const char *project, struct missing *out,
	struct err *e) MUST_CHECK;
// Of our own store; NULL if the source is a server.
const struct platform *row_source_platform(const struct row_source *s);
