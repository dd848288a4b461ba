// SPDX-License-Identifier: Apache-2.0
#include "lib/state/catalog/catalog-view.h"

#include <string.h>

#include "lib/base/mem.h"
#include "lib/state/catalog/catalog-query.h"

// The folder of memberships was read once.
static int were_read(struct catalog *c, struct err *e)
{
	CLEANUP(query_end) struct query *q = catalog_query(c, VIEWS_READ_GET, e);
	return query_step(q, e) < 0 ? -1 : query_int(q, 0) != 0;
}

int catalog_view_find(struct catalog *c, const char *view, struct catalog_view *out, struct err *e)
{
	CLEANUP(query_end) struct query *q = catalog_query_by(c, VIEW_FIND, BY(SQL_TEXT(view)), e);
	*out = (struct catalog_view){0};
	int row = query_step(q, e), read = 1;
	if (row < 0 || (row == 0 && (read = were_read(c, e)) < 0))
		return -1;
	out->is_known = row != 0;
	out->is_damaged = row ? query_int(q, 3) != 0 : !read;
	if (row == 0)
		return 0;
	out->generation = query_int(q, 0);
	out->made = query_int(q, 1);
	const uint8_t *sha256 = query_sha256(q, 2);
	if (sha256)
		memcpy(out->sha256, sha256, SHA256_SIZE);
	return 0;
}

int catalog_views(struct catalog *c, catalog_view_fn *fn, void *ctx, struct err *e)
{
	CLEANUP(query_end) struct query *q = catalog_query(c, VIEW_LIST, e);
	int row;
	while ((row = query_step(q, e)) > 0)
		if (fn(ctx, query_text(q, 0), e) < 0)
			return -1;
	return row;
}

int catalog_view_at(struct catalog *c, const char *view, int64_t when, int64_t *generation, struct err *e)
{
	return catalog_int_by(c, VIEW_AT, BY(SQL_TEXT(view), SQL_INT(when)), generation, e) < 0 ? -1 : 0;
}

// --- members ---

static struct query *query_generation(struct catalog *c, enum statement id, const char *view, int64_t generation,
	struct err *e)
{
	struct query *q = catalog_query(c, id, e);
	query_bind_text(q, 1, view);
	query_bind_int(q, 2, generation);
	return q;
}

int catalog_view_has(struct catalog *c, const char *view, int64_t generation, int64_t platform, const char *filename,
	const uint8_t sha256[SHA256_SIZE], struct err *e)
{
	CLEANUP(query_end) struct query *q = query_generation(c, MEMBER_HAS, view, generation, e);
	query_bind_int(q, 3, platform);
	query_bind_text(q, 4, filename);
	query_bind_sha256(q, 5, sha256);
	return query_step(q, e);
}

int catalog_view_left(struct catalog *c, const char *view, int64_t platform, const char *filename,
	const uint8_t sha256[SHA256_SIZE], catalog_left_fn *fn, void *ctx, struct err *e)
{
	CLEANUP(query_end) struct query *q = catalog_query_by(c, MEMBER_LEFT, BY(SQL_TEXT(view), SQL_INT(platform),
		SQL_TEXT(filename), SQL_SHA256(sha256)), e);
	int row = query_step(q, e);
	if (row <= 0)
		return row;
	const struct catalog_left left = {query_int(q, 0), query_text(q, 1), query_text(q, 2)};
	return fn(ctx, &left, e);
}

int catalog_view_came(struct catalog *c, const char *view, const char *platform, const char *filename,
	const uint8_t sha256[SHA256_SIZE], int64_t before, int64_t *generation, struct err *e)
{
	return catalog_int_by(c, MEMBER_CAME, BY(SQL_TEXT(view), SQL_TEXT(platform),
		SQL_TEXT(filename), SQL_SHA256(sha256), SQL_INT(before)), generation, e) < 0 ? -1 : 0;
}

int catalog_view_projects(struct catalog *c, const char *view, int64_t generation, int64_t platform,
	catalog_project_fn *fn, void *ctx, struct err *e)
{
	CLEANUP(query_end) struct query *q = query_generation(c, MEMBER_PROJECTS, view, generation, e);
	query_bind_int(q, 3, platform);
	int row;
	while ((row = query_step(q, e)) > 0) {
		const struct catalog_project project = {
			.platform = query_int(q, 0),
			.project = query_text(q, 1),
		};
		if (fn(ctx, &project, e) < 0)
			return -1;
	}
	return row;
}

int catalog_view_members(struct catalog *c, const char *view, int64_t generation, const char *project,
	catalog_member_fn *fn, void *ctx, struct err *e)
{
	CLEANUP(query_end)
	struct query *q = query_generation(c, project ? MEMBER_LIST_PROJECT : MEMBER_LIST, view, generation, e);
	if (project)
		query_bind_text(q, 3, project);
	int row;
	while ((row = query_step(q, e)) > 0) {
		const struct catalog_member member = {
			.platform = query_int(q, 0),
			.platform_name = query_text(q, 1),
			.project = query_text(q, 2),
			.filename = query_text(q, 3),
			.sha256 = query_sha256(q, 4),
			.since = query_int(q, 5),
			.is_listed = query_int(q, 6) != 0,
		};
		if (member.sha256 && fn(ctx, &member, e) < 0)
			return -1;
	}
	return row;
}

int catalog_view_pins(struct catalog *c, int64_t platform, const char *filename, const uint8_t sha256[SHA256_SIZE],
	char **view, struct err *e)
{
	CLEANUP(query_end) struct query *q = catalog_query(c, MEMBER_PINS, e);
	*view = NULL;
	query_bind_text(q, 1, filename);
	query_bind_int(q, 2, platform);
	query_bind_sha256(q, 3, sha256);
	int row = query_step(q, e);
	if (row > 0)
		*view = xstrdup(query_text(q, 0));
	return row < 0 ? -1 : 0;
}

static int each_generation(struct query *q, catalog_generation_fn *fn, void *ctx, struct err *e)
{
	int row;
	while ((row = query_step(q, e)) > 0) {
		const struct catalog_generation generation = {
			.number = query_int(q, 0),
			.made = query_int(q, 1),
			.action = query_text(q, 2),
			.by = query_text(q, 3),
			.reason = query_text(q, 4),
			.added = (uint64_t)query_int(q, 5),
			.removed = (uint64_t)query_int(q, 6),
			.packed = query_bytes(q, 7),
		};
		if (fn(ctx, &generation, e) < 0)
			return -1;
	}
	return row;
}

int catalog_view_generations(struct catalog *c, const char *view, int64_t before, uint64_t most,
	catalog_generation_fn *fn, void *ctx, struct err *e)
{
	CLEANUP(query_end) struct query *q = query_generation(c, GENERATION_LIST, view, before, e);
	query_bind_int(q, 3, most > INT64_MAX ? INT64_MAX : (int64_t)most);
	return each_generation(q, fn, ctx, e);
}

int catalog_view_generation(struct catalog *c, const char *view, int64_t number, catalog_generation_fn *fn, void *ctx,
	struct err *e)
{
	CLEANUP(query_end) struct query *q = query_generation(c, GENERATION_FIND, view, number, e);
	return each_generation(q, fn, ctx, e);
}

// --- writing ---

static int run_for_view(struct catalog *c, enum statement id, const char *view, struct err *e)
{
	return catalog_run_by(c, id, BY(SQL_TEXT(view)), e);
}

// For VIEW_SET_DAMAGED and VIEW_SET_NEWEST.
static int set_of_view(struct catalog *c, enum statement id, const char *view, int64_t value, struct err *e)
{
	CLEANUP(query_end) struct query *q = query_generation(c, id, view, value, e);
	return query_run(q, e);
}

// Runs to the end, so that what RETURNING belongs to is done. 1: a row was written; 0: none.
static int run_returning(struct query *q, struct err *e)
{
	int row = query_step(q, e), end = row;
	while (end > 0)
		end = query_step(q, e);
	return end < 0 ? -1 : row;
}

static int add_generation(struct catalog *c, const char *view, const struct catalog_generation *g,
	const uint8_t sha256[SHA256_SIZE], struct err *e)
{
	CLEANUP(query_end) struct query *q = query_generation(c, GENERATION_ADD, view, g->number, e);
	query_bind_int(q, 3, g->made);
	query_bind_sha256(q, 4, sha256);
	query_bind_text(q, 5, g->action);
	query_bind_text(q, 6, g->by);
	query_bind_text(q, 7, g->reason);
	query_bind_int(q, 8, (int64_t)g->added);
	query_bind_int(q, 9, (int64_t)g->removed);
	query_bind_str(q, 10, g->packed);
	return run_returning(q, e);
}

int catalog_view_append(struct catalog *c, const char *view, const struct catalog_generation *g,
	const uint8_t sha256[SHA256_SIZE], struct err *e)
{
	if (run_for_view(c, VIEW_ADD, view, e) < 0)
		return -1;
	int added = add_generation(c, view, g, sha256, e);
	if (added == 0)
		return err_set(e, ERR_CONFLICT, "view %s: generation %lld is not the next one", view,
			(long long)g->number);
	return added < 0 ? -1 : set_of_view(c, VIEW_SET_NEWEST, view, g->number, e);
}

int catalog_view_add_member(struct catalog *c, const char *view, int64_t generation, const struct catalog_member *m,
	struct err *e)
{
	CLEANUP(query_end) struct query *q = query_generation(c, MEMBER_ADD, view, generation, e);
	query_bind_int(q, 3, m->platform);
	query_bind_text(q, 4, m->project);
	query_bind_text(q, 5, m->filename);
	query_bind_sha256(q, 6, m->sha256);
	int added = run_returning(q, e);
	if (added == 0)
		return err_set(e, ERR_CONFLICT, "view %s already has %s", view, m->filename);
	return added < 0 ? -1 : 0;
}

int catalog_view_end_member(struct catalog *c, const char *view, int64_t generation, int64_t platform,
	const char *filename, const uint8_t sha256[SHA256_SIZE], struct err *e)
{
	CLEANUP(query_end) struct query *q = query_generation(c, MEMBER_END, view, generation, e);
	query_bind_int(q, 3, platform);
	query_bind_text(q, 4, filename);
	query_bind_sha256(q, 5, sha256);
	int ended = run_returning(q, e);
	if (ended == 0)
		return err_set(e, ERR_CONFLICT, "view %s does not have %s", view, filename);
	return ended < 0 ? -1 : 0;
}

int catalog_view_set_made(struct catalog *c, const char *view, int64_t generation, int64_t made, struct err *e)
{
	CLEANUP(query_end) struct query *q = query_generation(c, GENERATION_SET_MADE, view, generation, e);
	query_bind_int(q, 3, made);
	return query_run(q, e);
}

int catalog_view_set_damaged(struct catalog *c, const char *view, bool is_damaged, struct err *e)
{
	if (run_for_view(c, VIEW_ADD, view, e) < 0)
		return -1;
	return set_of_view(c, VIEW_SET_DAMAGED, view, is_damaged, e);
}

int catalog_view_clear(struct catalog *c, const char *view, struct err *e)
{
	if (run_for_view(c, VIEW_FORGET_MEMBERS, view, e) < 0 || run_for_view(c, VIEW_FORGET_GENERATIONS, view, e) < 0)
		return -1;
	return set_of_view(c, VIEW_SET_NEWEST, view, 0, e);
}

int catalog_views_set_read(struct catalog *c, struct err *e)
{
	return catalog_run(c, VIEWS_READ_SET, e);
}
