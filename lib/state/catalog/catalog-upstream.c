// SPDX-License-Identifier: Apache-2.0
#include "lib/state/catalog/catalog-upstream.h"

#include <string.h>

#include "lib/base/limits.h"
#include "lib/base/mem.h"
#include "lib/state/catalog/catalog-query.h"

enum {
	SECOND = 1000000000, // in nanoseconds
	TIME_DIGITS = 21,    // with a blank
};

int catalog_upstream_rows(struct catalog *c, const char *project, catalog_upstream_fn *fn, void *ctx, struct err *e)
{
	CLEANUP(query_end) struct query *q = catalog_query_by(c, UPSTREAM_ROWS, BY(SQL_TEXT(project)), e);
	int row;
	while ((row = query_step(q, e)) > 0) {
		struct catalog_upstream found = {
			.project = project,
			.source = query_text(q, 0),
			.result = query_text(q, 1),
			.why = query_text(q, 2),
			.last_definitive = query_text(q, 3),
			.etag = query_text(q, 4),
			.asked = query_int(q, 5),
			.fetched = query_int(q, 6),
			.max_age = query_int(q, 7),
			.changed = query_int(q, 8),
			.doubt = query_sha256(q, 9),
			.doubted = query_int(q, 10),
			.page = query_bytes(q, 11),
			.certain = query_int(q, 12),
			.had_since = query_int(q, 13),
		};
		if (fn(ctx, &found, e) < 0)
			return -1;
	}
	return row;
}

static int put_row(struct catalog *c, const struct catalog_upstream *row, bool is_changed, int64_t *changed,
	struct err *e)
{
	CLEANUP(query_end) struct query *q = catalog_query_by(c, UPSTREAM_SET, BY(SQL_TEXT(row->project),
		SQL_TEXT(row->source), SQL_TEXT(row->result), SQL_TEXT(row->why), SQL_TEXT(row->last_definitive),
		SQL_TEXT(row->etag), SQL_INT(row->asked), SQL_INT(row->fetched), SQL_INT(row->max_age)), e);
	if (row->doubt)
		query_bind_bytes(q, 10, row->doubt, SHA256_SIZE);
	query_bind_int(q, 11, row->doubted);
	query_bind_int(q, 12, is_changed);
	query_bind_int(q, 13, row->certain);
	query_bind_int(q, 14, row->had_since);
	if (query_step(q, e) < 0)
		return -1;
	*changed = query_int(q, 0);
	return 0;
}

int catalog_upstream_put(struct catalog *c, const struct catalog_upstream *row, bool has_page, bool is_changed,
	int64_t *changed, struct err *e)
{
	if (put_row(c, row, is_changed, changed, e) < 0)
		return -1;
	if (!has_page)
		return 0;
	return catalog_run_by(c, UPSTREAM_SET_PAGE, BY(SQL_TEXT(row->project), SQL_TEXT(row->source),
		SQL_BYTES(row->page.ptr, row->page.len)), e);
}

int catalog_upstream_had(struct catalog *c, const char *project, const char *source, int64_t arrived, int64_t *since,
	struct err *e)
{
	CLEANUP(query_end) struct query *q =
		catalog_query_by(c, CAME_HAD, BY(SQL_TEXT(source), SQL_TEXT(project), SQL_INT(arrived)), e);
	int row = query_step(q, e);
	*since = row > 0 ? query_int(q, 0) : 0;
	return row < 0 ? -1 : 0;
}

int catalog_upstream_had_put(struct catalog *c, const char *project, const char *source, int64_t arrived, int64_t since,
	struct err *e)
{
	if (strlen(source) > LIMIT_FILE_NAME || strlen(project) + TIME_DIGITS > LIMIT_FILE_NAME)
		return 0;
	return catalog_run_by(c, CAME_HAD_PUT, BY(SQL_TEXT(source), SQL_TEXT(project), SQL_INT(arrived), SQL_INT(since)), e);
}

int catalog_upstream_touch(struct catalog *c, const char *project, const char *source, struct err *e)
{
	return catalog_run_by(c, UPSTREAM_TOUCH, BY(SQL_TEXT(project), SQL_TEXT(source)), e);
}

int catalog_project_places(struct catalog *c, const char *project, catalog_place_of_project_fn *fn, void *ctx,
	struct err *e)
{
	CLEANUP(query_end) struct query *q = catalog_query_by(c, PROJECT_PLACES, BY(SQL_TEXT(project)), e);
	int row;
	while ((row = query_step(q, e)) > 0)
		if (fn(ctx, query_text(q, 0), query_int(q, 1), query_int(q, 2), e) < 0)
			return -1;
	return row;
}

int catalog_project_oldest(struct catalog *c, const char *project, int64_t *oldest, struct err *e)
{
	CLEANUP(query_end) struct query *q = catalog_query_by(c, PROJECT_OLDEST, BY(SQL_TEXT(project)), e);
	if (query_step(q, e) < 0)
		return -1;
	int64_t found = query_int(q, 0);
	*oldest = found == INT64_MAX ? 0 : found < SECOND ? 1 : found / SECOND;
	return 0;
}

int catalog_upstream_forget(struct catalog *c, int64_t most, struct err *e)
{
	return catalog_run_by(c, UPSTREAM_FORGET, BY(SQL_INT(most)), e);
}

int catalog_upstream_forget_pages(struct catalog *c, int64_t bytes, const char *kept, struct err *e)
{
	return catalog_run_by(c, UPSTREAM_FORGET_PAGES, BY(SQL_INT(bytes), SQL_TEXT(kept)), e);
}

int catalog_upstream_changes(struct catalog *c, int64_t since, catalog_upstream_change_fn *fn, void *ctx,
	int64_t *newest, struct err *e)
{
	CLEANUP(query_end) struct query *q = catalog_query_by(c, UPSTREAM_CHANGES, BY(SQL_INT(since)), e);
	int64_t last = since;
	int row;
	while ((row = query_step(q, e)) > 0) {
		last = query_int(q, 1);
		if (fn(ctx, query_text(q, 0), last, e) < 0)
			return -1;
	}
	if (row == 0)
		*newest = last;
	return row;
}

int catalog_upstream_names(struct catalog *c, const char *after, int64_t most, catalog_upstream_name_fn *fn, void *ctx,
	struct err *e)
{
	CLEANUP(query_end) struct query *q = catalog_query(c, UPSTREAM_NAMES, e);
	query_bind_text(q, 1, after);
	query_bind_int(q, 2, most);
	int row;
	while ((row = query_step(q, e)) > 0)
		if (fn(ctx, query_text(q, 0), e) < 0)
			return -1;
	return row;
}

int catalog_upstream_count(struct catalog *c, uint64_t *count, struct err *e)
{
	CLEANUP(query_end) struct query *q = catalog_query(c, UPSTREAM_COUNT, e);
	if (query_step(q, e) < 0)
		return -1;
	*count = (uint64_t)query_int(q, 0);
	return 0;
}
