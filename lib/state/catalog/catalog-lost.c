// SPDX-License-Identifier: Apache-2.0
#include "lib/state/catalog/catalog-lost.h"

#include "lib/state/catalog/catalog-query.h"

int catalog_lost_list(struct catalog *c, const char *view, catalog_lost_fn *fn, void *ctx, struct err *e)
{
	CLEANUP(query_end) struct query *q = catalog_query_by(c, LOST_LIST, BY(SQL_TEXT(view)), e);
	if (!q)
		return -1;
	int row;
	while ((row = query_step(q, e)) > 0) {
		const struct catalog_lost lost = {
			view, query_text(q, 0), query_text(q, 1), query_sha256(q, 2), query_int(q, 3)};
		if (lost.sha256 && fn(ctx, &lost, e) < 0)
			return -1;
	}
	return row;
}

// To the end, so that what RETURNING belongs to is done. 1: a row was written; 0: none.
static int write_lost(struct catalog *c, enum statement id, const struct catalog_lost *row, struct err *e)
{
	CLEANUP(query_end) struct query *q = catalog_query_by(c, id, BY(SQL_TEXT(row->view), SQL_TEXT(row->platform),
		SQL_TEXT(row->filename), SQL_SHA256(row->sha256)), e);
	if (!q)
		return -1;
	if (id == LOST_PUT)
		query_bind_int(q, 5, row->since);
	int written = query_step(q, e), end = written;
	while (end > 0)
		end = query_step(q, e);
	return end < 0 ? -1 : written;
}

int catalog_lost_put(struct catalog *c, const struct catalog_lost *row, struct err *e)
{
	return write_lost(c, LOST_PUT, row, e);
}

int catalog_lost_remove(struct catalog *c, const struct catalog_lost *row, struct err *e)
{
	return write_lost(c, LOST_REMOVE, row, e);
}
