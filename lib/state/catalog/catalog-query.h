// SPDX-License-Identifier: Apache-2.0
// Runs the catalog's statements; only for the catalog-*.c. Queries are as in lib/state/database/query.h.
#pragma once

#include "lib/state/catalog/schema.h"
#include "lib/state/database/query.h"

struct catalog;

// query_begin and query_run_ints for a statement of the catalog.
struct query *catalog_query(struct catalog *c, enum statement id, struct err *e) MUST_CHECK;
int catalog_run_ints(struct catalog *c, enum statement id, const int64_t *values, int count, struct err *e) MUST_CHECK;
// To be called after a commit: raises the change count (lib/state/catalog/changes.h).
void catalog_committed(struct catalog *c);
