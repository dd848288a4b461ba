// SPDX-License-Identifier: Apache-2.0
// What the last `wheelcache retain` found in each view: for metrics, and so that it tells of a change only once. One
// thread at a time for each connection. Errors and callbacks as in catalog.h.
#pragma once

#include "lib/state/catalog/catalog-write.h"

struct catalog_retained {
	const char *view;
	int64_t looked;  // seconds since 1970: as of which time it decided
	uint64_t ended;  // versions that ended
	uint64_t ending; // versions that will end within warn-days
	uint64_t stale;  // projects of which an environment is stale
	bool in_doubt;   // nothing could end; the numbers are 0
};
// In a transaction.
int catalog_retained_put(struct catalog *c, const struct catalog_retained *row, struct err *e) MUST_CHECK;
typedef int catalog_retained_fn(void *ctx, const struct catalog_retained *row, struct err *e);
// By view.
int catalog_retained(struct catalog *c, catalog_retained_fn *fn, void *ctx, struct err *e) MUST_CHECK;
