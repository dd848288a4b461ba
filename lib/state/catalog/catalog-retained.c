// SPDX-License-Identifier: Apache-2.0
#include "lib/state/catalog/catalog-retained.h"

#include "lib/state/catalog/catalog-query.h"

int catalog_retained_put(struct catalog *c, const struct catalog_retained *row, struct err *e)
{
	return catalog_run_by(c, RETAINED_PUT, BY(SQL_TEXT(row->view), SQL_INT(row->looked), SQL_INT(row->ended),
		SQL_INT(row->ending), SQL_INT(row->stale), SQL_INT(row->in_doubt)), e);
}

int catalog_retained(struct catalog *c, catalog_retained_fn *fn, void *ctx, struct err *e)
{
	CLEANUP(query_end) struct query *q = catalog_query(c, RETAINED_LIST, e);
	if (!q)
		return -1;
	int found;
	while ((found = query_step(q, e)) > 0) {
		const struct catalog_retained row = {query_text(q, 0), query_int(q, 1), (uint64_t)query_int(q, 2),
			(uint64_t)query_int(q, 3), (uint64_t)query_int(q, 4), query_int(q, 5) != 0};
		if (fn(ctx, &row, e) < 0)
			return -1;
	}
	return found;
}
