// SPDX-License-Identifier: Apache-2.0
// A pool of connections to one catalog file. A lease is used by one thread at a time. Any thread may call take, give
// and renew.
#pragma once

#include "lib/base/err.h"

struct catalog;
struct catalog_pool;

// A leased connection. generation: how many renewals came before it was opened.
struct catalog_lease {
	struct catalog *catalog;
	unsigned generation;
};

struct catalog_pool *catalog_pool_new(const char *catalog_path);
void catalog_pool_free(struct catalog_pool *r); // all leases must have been given back; NULL is fine
// Opens a connection where all are leased. The errors of catalog_open(); ERR_BUSY: the file was removed.
int catalog_pool_take(struct catalog_pool *r, struct catalog_lease *out, struct err *e) MUST_CHECK;
// Gives a lease back. A connection with a system error is closed. A lease of zeros is fine.
void catalog_pool_give(struct catalog_pool *r, struct catalog_lease *lease);
// From now on connections are opened anew, since the catalog may be another file. Leased ones are closed when given
// back.
void catalog_pool_renew(struct catalog_pool *r);
