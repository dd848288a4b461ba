// SPDX-License-Identifier: Apache-2.0
// Catalog connections, lent to one thread at a time. Thread-safe.
#pragma once

#include "lib/base/err.h"

struct catalog;
struct catalog_pool;

// A connection that is lent. The number tells which file it was opened from.
struct catalog_lease {
	struct catalog *catalog;
	unsigned generation;
};

struct catalog_pool *catalog_pool_new(const char *catalog_path);
void catalog_pool_free(struct catalog_pool *r); // all must have been given back; NULL is fine
// Opens one more where all are lent.
int catalog_pool_take(struct catalog_pool *r, struct catalog_lease *out, struct err *e) MUST_CHECK;
// One for which the system has failed is closed.
void catalog_pool_give(struct catalog_pool *r, struct catalog_lease *reader);
// Opens anew what is taken from now on: the catalog may be another file. What is lent is closed when it comes back.
void catalog_pool_renew(struct catalog_pool *r);
