// SPDX-License-Identifier: Apache-2.0
#include "lib/state/catalog/catalog-candidate.h"

#include "lib/base/limits.h"
#include "lib/state/catalog/query.h"

static int tell_files(struct query *q, catalog_candidate_fn *fn, void *ctx, struct err *e)
{
	int row;
	while ((row = query_step(q, e)) > 0) {
		struct catalog_candidate file = {
			.platform = query_int(q, 0),
			.filename = query_text(q, 1),
			.path = query_text(q, 2),
			.version = query_text(q, 3),
			.size = (uint64_t)query_int(q, 4),
			.mtime_ns = query_int(q, 5),
			.sha256 = query_sha256(q, 6),
			.requires_python = query_text_within(q, 7, LIMIT_REQUIRES_PYTHON),
			.refusal = query_text(q, 8),
		};
		if (fn(ctx, &file, e) < 0)
			return -1;
	}
	return row;
}

int catalog_candidates(struct catalog *c, int64_t platform, const char *project, catalog_candidate_fn *fn, void *ctx,
	struct err *e)
{
	CLEANUP(query_end) struct query *q = query_begin(c, HELD_FILES, e);
	if (!q)
		return -1;
	query_bind_int(q, 1, platform);
	query_bind_text(q, 2, project);
	return tell_files(q, fn, ctx, e);
}

int catalog_quarantined_files(struct catalog *c, catalog_candidate_fn *fn, void *ctx, struct err *e)
{
	CLEANUP(query_end) struct query *q = query_begin(c, REFUSED_FILES, e);
	return q ? tell_files(q, fn, ctx, e) : -1;
}

int catalog_name_owners(struct catalog *c, catalog_name_owner_fn *fn, void *ctx, struct err *e)
{
	CLEANUP(query_end) struct query *q = query_begin(c, HOLDERS, e);
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
	CLEANUP(query_end) struct query *q = query_begin(c, STORE_CHANGE, e);
	if (!q || query_step(q, e) < 0)
		return -1;
	*change = query_int(q, 0);
	return 0;
}
