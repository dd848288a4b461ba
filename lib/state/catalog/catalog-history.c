// SPDX-License-Identifier: Apache-2.0
#include "lib/state/catalog/catalog-history.h"

#include "lib/base/limits.h"
#include "lib/state/catalog/catalog-query.h"
#include "lib/state/catalog/file-columns.h"

static struct catalog_history history_of(struct query *q)
{
	struct catalog_history file = {
		.platform = query_int(q, 0),
		.filename = query_text(q, 1),
		.path = query_text(q, 2),
		.state = (enum catalog_state)query_int(q, 3),
		.has_file = query_int(q, 4),
		.reason = query_text(q, 5),
		.tombstone = query_text(q, 6),
	};
	struct catalog_history *out = &file;
	int at = 7;
	FILE_COLUMNS(FILE_READ_WHY)
	return file;
}

static int report_histories(struct catalog *c, enum statement id, const char *project, catalog_history_fn *fn,
	void *ctx, struct err *e)
{
	CLEANUP(query_end) struct query *q = catalog_query_by(c, id, BY(SQL_TEXT(project)), e);
	if (!q)
		return -1;
	int row;
	while ((row = query_step(q, e)) > 0) {
		const struct catalog_history file = history_of(q);
		if (fn(ctx, &file, e) < 0)
			return -1;
	}
	return row;
}

int catalog_histories(struct catalog *c, const char *project, catalog_history_fn *fn, void *ctx, struct err *e)
{
	return report_histories(c, HISTORIES, project, fn, ctx, e);
}

int catalog_unlisted_histories(struct catalog *c, const char *project, catalog_history_fn *fn, void *ctx, struct err *e)
{
	return report_histories(c, UNLISTED_HISTORIES, project, fn, ctx, e);
}
