// SPDX-License-Identifier: Apache-2.0
// Runs the catalog's statements; only for the catalog-*.c. Queries are as in lib/state/database/query.h.
#pragma once

#include "lib/state/catalog/schema.h"
#include "lib/state/database/query.h"

struct catalog;

// query_begin, query_by, query_run_by and query_int_by for a statement of the catalog; catalog_run: without values.
struct query *catalog_query(struct catalog *c, enum statement id, struct err *e) MUST_CHECK;
struct query *catalog_query_by(struct catalog *c, enum statement id, const struct query_value *value, size_t count,
	struct err *e) MUST_CHECK;
int catalog_run_by(struct catalog *c, enum statement id, const struct query_value *value, size_t count,
	struct err *e) MUST_CHECK;
int catalog_run(struct catalog *c, enum statement id, struct err *e) MUST_CHECK;
int catalog_int_by(struct catalog *c, enum statement id, const struct query_value *value, size_t count, int64_t *out,
	struct err *e) MUST_CHECK;
// To be called after a commit: raises the change count (lib/state/catalog/changes.h).
void catalog_committed(struct catalog *c);
