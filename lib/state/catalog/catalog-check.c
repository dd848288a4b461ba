// SPDX-License-Identifier: Apache-2.0
#include "lib/state/catalog/catalog-check.h"

#include <string.h>

#include "lib/state/catalog/catalog-query.h"
#include "lib/state/catalog/file-columns.h"

static struct catalog_good good_file(struct query *q)
{
	struct catalog_good file = {
		.folder = query_text(q, 0), .filename = query_text(q, 1), .project = query_text(q, 2)};
	struct catalog_good *out = &file;
	int at = 3;
	FILE_COLUMNS(FILE_READ_CHECK)
	return file;
}

int catalog_good_files(struct catalog *c, catalog_good_fn *fn, void *ctx, struct err *e)
{
	CLEANUP(query_end) struct query *q = catalog_query(c, FILES_GOOD, e);
	if (!q)
		return -1;
	int row;
	while ((row = query_step(q, e)) > 0) {
		const struct catalog_good file = good_file(q);
		if (fn(ctx, &file, e) < 0)
			return -1;
	}
	return row;
}

int catalog_file_sum(struct catalog *c, int64_t id, struct catalog_sum *out, struct err *e)
{
	CLEANUP(query_end) struct query *q = catalog_query_by(c, FILE_SUM, BY(SQL_INT(id)), e);
	if (!q)
		return -1;
	int row = query_step(q, e);
	const uint8_t *sha256 = row > 0 ? query_sha256(q, 3) : NULL;
	if (!sha256)
		return row < 0 ? -1 : 0;
	*out = (struct catalog_sum){
		.state = (enum catalog_state)query_int(q, 0),
		.size = (uint64_t)query_int(q, 1),
		.mtime_ns = query_int(q, 2),
	};
	memcpy(out->sha256, sha256, SHA256_SIZE);
	return 1;
}

int catalog_file_name(struct catalog *c, int64_t id, char **name, struct err *e)
{
	CLEANUP(query_end) struct query *q = catalog_query_by(c, FILE_GET, BY(SQL_INT(id)), e);
	if (!q)
		return -1;
	int row = query_step(q, e);
	if (row > 0)
		*name = xstrdup(query_text(q, 0));
	return row;
}

int catalog_has_file(struct catalog *c, int64_t platform, const char *folder, const char *filename, struct err *e)
{
	CLEANUP(query_end) struct query *q = catalog_query_by(c, FILE_AT, BY(SQL_INT(platform), SQL_TEXT(folder),
		SQL_TEXT(filename)), e);
	if (!q)
		return -1;
	return query_step(q, e);
}
