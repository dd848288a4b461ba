// SPDX-License-Identifier: Apache-2.0
#include "lib/state/catalog/catalog-told.h"

#include "lib/state/catalog/catalog-query.h"

// --- what views expect ---

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
	int found = query_step(q, e);
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
	query_bind_int(q, 5, row->known);
	query_bind_int(q, 6, row->newest);
	query_bind_int(q, 7, row->is_silent);
	return query_run(q, e);
}

// --- what the store has lost ---

int catalog_lost_list(struct catalog *c, const char *view, catalog_lost_fn *fn, void *ctx, struct err *e)
{
	CLEANUP(query_end) struct query *q = catalog_query_by(c, LOST_LIST, BY(SQL_TEXT(view)), e);
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

// --- what has expired ---

int catalog_retained_put(struct catalog *c, const struct catalog_retained *row, struct err *e)
{
	return catalog_run_by(c, RETAINED_PUT, BY(SQL_TEXT(row->view), SQL_INT(row->looked), SQL_INT(row->ended),
		SQL_INT(row->ending), SQL_INT(row->stale), SQL_INT(row->in_doubt)), e);
}

int catalog_retained(struct catalog *c, catalog_retained_fn *fn, void *ctx, struct err *e)
{
	CLEANUP(query_end) struct query *q = catalog_query(c, RETAINED_LIST, e);
	int found;
	while ((found = query_step(q, e)) > 0) {
		const struct catalog_retained row = {query_text(q, 0), query_int(q, 1), (uint64_t)query_int(q, 2),
			(uint64_t)query_int(q, 3), (uint64_t)query_int(q, 4), query_int(q, 5) != 0};
		if (fn(ctx, &row, e) < 0)
			return -1;
	}
	return found;
}
