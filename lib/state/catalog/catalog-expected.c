// SPDX-License-Identifier: Apache-2.0
#include "lib/state/catalog/catalog-expected.h"

#include "lib/state/catalog/catalog-query.h"

static struct query *query_expected(struct catalog *c, enum statement id, const struct catalog_expected *row,
	struct err *e)
{
	const char *const text[] = {row->view, row->kind, row->platform, row->python};
	struct query *q = catalog_query(c, id, e);
	for (size_t i = 0; q && i < ARRAY_SIZE(text); i++)
		query_bind_text(q, (int)i + 1, text[i]);
	return q;
}

int catalog_expected_find(struct catalog *c, struct catalog_expected *row, struct err *e)
{
	CLEANUP(query_end) struct query *q = query_expected(c, EXPECTED_FIND, row, e);
	int found = q ? query_step(q, e) : -1;
	if (found <= 0)
		return found;
	row->known = query_int(q, 0);
	row->newest = query_int(q, 1);
	row->is_silent = query_int(q, 2) != 0;
	return 1;
}

int catalog_expected_put(struct catalog *c, const struct catalog_expected *row, struct err *e)
{
	CLEANUP(query_end) struct query *q = query_expected(c, EXPECTED_PUT, row, e);
	if (!q)
		return -1;
	query_bind_int(q, 5, row->known);
	query_bind_int(q, 6, row->newest);
	query_bind_int(q, 7, row->is_silent);
	return query_run(q, e);
}
