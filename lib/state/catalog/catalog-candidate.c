// SPDX-License-Identifier: Apache-2.0
#include "lib/state/catalog/catalog-candidate.h"

#include "lib/base/limits.h"
#include "lib/state/catalog/catalog-query.h"
#include "lib/state/catalog/file-columns.h"

static struct catalog_candidate candidate_of(struct query *q)
{
	struct catalog_candidate file = {
		.filename = query_text(q, 0), .path = query_text(q, 1), .refusal = query_text(q, 2)};
	struct catalog_candidate *out = &file;
	int at = 4; // after version_key, which is only for sorting
	FILE_COLUMNS(FILE_READ_PRUNE)
	return file;
}

void catalog_candidate_copy(struct arena *a, struct catalog_candidate *out)
{
	out->filename = arena_copy(a, str_from(out->filename));
	out->path = arena_copy(a, str_from(out->path));
	out->refusal = out->refusal ? arena_copy(a, str_from(out->refusal)) : NULL;
	FILE_COLUMNS(FILE_COPY_PRUNE)
}

static int report_candidates(struct query *q, catalog_candidate_fn *fn, void *ctx, struct err *e)
{
	int row;
	while ((row = query_step(q, e)) > 0) {
		const struct catalog_candidate file = candidate_of(q);
		if (fn(ctx, &file, e) < 0)
			return -1;
	}
	return row;
}

int catalog_candidates(struct catalog *c, int64_t platform, const char *project, catalog_candidate_fn *fn, void *ctx,
	struct err *e)
{
	CLEANUP(query_end) struct query *q = catalog_query_by(c, CANDIDATE_FILES, BY(SQL_INT(platform),
		SQL_TEXT(project)), e);
	if (!q)
		return -1;
	return report_candidates(q, fn, ctx, e);
}

int catalog_quarantined_files(struct catalog *c, catalog_candidate_fn *fn, void *ctx, struct err *e)
{
	CLEANUP(query_end) struct query *q = catalog_query(c, REFUSED_FILES, e);
	return q ? report_candidates(q, fn, ctx, e) : -1;
}

int catalog_name_owners(struct catalog *c, catalog_name_owner_fn *fn, void *ctx, struct err *e)
{
	CLEANUP(query_end) struct query *q = catalog_query(c, NAME_OWNERS, e);
	if (!q)
		return -1;
	int row;
	while ((row = query_step(q, e)) > 0)
		if (fn(ctx, query_text(q, 0), query_int(q, 1), e) < 0)
			return -1;
	return row;
}

int catalog_newest_change(struct catalog *c, int64_t *change, struct err *e)
{
	CLEANUP(query_end) struct query *q = catalog_query(c, STORE_CHANGE, e);
	if (!q || query_step(q, e) < 0)
		return -1;
	*change = query_int(q, 0);
	return 0;
}
