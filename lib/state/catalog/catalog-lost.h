// SPDX-License-Identifier: Apache-2.0
// Members of views that the store has lost, as far as a server noticed and told of them, so that each is told of once. One
// thread at a time for each connection. Errors and callbacks as in catalog.h.
#pragma once

#include "lib/state/catalog/catalog-write.h"

struct catalog_lost {
	const char *view, *platform, *filename;
	const uint8_t *sha256;
	int64_t since; // when it was noticed, seconds since 1970
};
typedef int catalog_lost_fn(void *ctx, const struct catalog_lost *row, struct err *e);
// Those of a view, by platform, file name, SHA-256, in the order of their bytes.
int catalog_lost_list(struct catalog *c, const char *view, catalog_lost_fn *fn, void *ctx, struct err *e) MUST_CHECK;
// In a transaction, as the next one. 1: it is new; 0: it was known, and stays as it was.
int catalog_lost_put(struct catalog *c, const struct catalog_lost *row, struct err *e) MUST_CHECK;
// 1: it was known; 0: it was not. since is not read.
int catalog_lost_remove(struct catalog *c, const struct catalog_lost *row, struct err *e) MUST_CHECK;
