// SPDX-License-Identifier: Apache-2.0
#include "lib/state/catalog/catalog-row.h"

#include <string.h>

#include "lib/base/limits.h"
#include "lib/state/catalog/catalog-query.h"
#include "lib/state/catalog/file-columns.h"

// --- for a check ---

int catalog_good_files(struct catalog *c, catalog_good_fn *fn, void *ctx, struct err *e)
{
	CLEANUP(query_end) struct query *q = catalog_query(c, FILES_GOOD, e);
	int row;
	while ((row = query_step(q, e)) > 0) {
		struct catalog_good file = {
			.folder = query_text(q, 0), .filename = query_text(q, 1), .project = query_text(q, 2)};
		struct catalog_good *out = &file;
		int at = 3;
		FILE_COLUMNS(FILE_READ_CHECK)
		if (fn(ctx, &file, e) < 0)
			return -1;
	}
	return row;
}

int catalog_file_sum(struct catalog *c, int64_t id, struct catalog_sum *out, struct err *e)
{
	CLEANUP(query_end) struct query *q = catalog_query_by(c, FILE_SUM, BY(SQL_INT(id)), e);
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
	int row = query_step(q, e);
	if (row > 0)
		*name = xstrdup(query_text(q, 0));
	return row;
}

int catalog_has_file(struct catalog *c, int64_t platform, const char *folder, const char *filename, struct err *e)
{
	CLEANUP(query_end) struct query *q = catalog_query_by(c, FILE_AT, BY(SQL_INT(platform), SQL_TEXT(folder),
		SQL_TEXT(filename)), e);
	return query_step(q, e);
}

// --- for a prune ---

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
		struct catalog_candidate file = {
			.filename = query_text(q, 0), .path = query_text(q, 1), .refusal = query_text(q, 2)};
		struct catalog_candidate *out = &file;
		int at = 4; // after version_key, which is only for sorting
		FILE_COLUMNS(FILE_READ_PRUNE)
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
	return report_candidates(q, fn, ctx, e);
}

int catalog_quarantined_files(struct catalog *c, catalog_candidate_fn *fn, void *ctx, struct err *e)
{
	CLEANUP(query_end) struct query *q = catalog_query(c, REFUSED_FILES, e);
	return report_candidates(q, fn, ctx, e);
}

int catalog_name_owners(struct catalog *c, catalog_name_owner_fn *fn, void *ctx, struct err *e)
{
	CLEANUP(query_end) struct query *q = catalog_query(c, NAME_OWNERS, e);
	int row;
	while ((row = query_step(q, e)) > 0)
		if (fn(ctx, query_text(q, 0), query_int(q, 1), e) < 0)
			return -1;
	return row;
}

int catalog_newest_change(struct catalog *c, int64_t *change, struct err *e)
{
	CLEANUP(query_end) struct query *q = catalog_query(c, STORE_CHANGE, e);
	if (query_step(q, e) < 0)
		return -1;
	*change = query_int(q, 0);
	return 0;
}

// --- for an explanation ---

static int report_histories(struct catalog *c, enum statement id, const char *project, catalog_history_fn *fn,
	void *ctx, struct err *e)
{
	CLEANUP(query_end) struct query *q = catalog_query_by(c, id, BY(SQL_TEXT(project)), e);
	int row;
	while ((row = query_step(q, e)) > 0) {
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
