// SPDX-License-Identifier: Apache-2.0
#include "lib/state/catalog/catalog-plan-change.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/limits.h"
#include "lib/state/catalog/catalog-query.h"

// The files of one plan on a platform, by path.
struct plan_side {
	struct query *query;
	int row; // 1: it stands on a row; 0: at the end
};

static void plan_side_release(struct plan_side *s)
{
	query_end(&s->query);
}

static int step_side(struct plan_side *s, struct err *e)
{
	s->row = query_step(s->query, e);
	return s->row < 0 ? -1 : 0;
}

static int open_side(struct catalog *c, enum statement statement, int64_t plan, int64_t platform, struct plan_side *out,
	struct err *e)
{
	out->query = catalog_query(c, statement, e);
	if (!out->query)
		return -1;
	query_bind_int(out->query, 1, plan);
	query_bind_int(out->query, 2, platform);
	return step_side(out, e);
}

enum { COLUMN_PATH, COLUMN_REMOVES, COLUMN_VERDICT, COLUMN_SIZE, COLUMN_PROJECT, COLUMN_FILENAME };

static const char *copy_column(struct catalog_plan_changes *x, struct query *q, int column)
{
	const char *text = q ? query_text(q, column) : NULL;
	return text ? arena_copy(&x->text, str_from(text)) : NULL;
}

// before, now: of one file; NULL: it is not in that plan.
static void add_change(struct catalog_plan_changes *x, int64_t platform, struct query *before, struct query *now)
{
	bool removed = before && query_int(before, COLUMN_REMOVES), removes = now && query_int(now, COLUMN_REMOVES);
	struct query *known = now ? now : before;
	if ((!removed && !removes) || x->count == LIMIT_PLAN_CHANGES ||
		(removed && removes &&
			strcmp(query_text(before, COLUMN_VERDICT), query_text(now, COLUMN_VERDICT)) == 0))
		return;
	GROW(x->item, x->count, x->room);
	x->item[x->count++] = (struct catalog_plan_change){
		.platform = platform,
		.project = copy_column(x, known, COLUMN_PROJECT),
		.filename = copy_column(x, known, COLUMN_FILENAME),
		.size = (uint64_t)query_int(known, COLUMN_SIZE),
		.removed = removed,
		.removes = removes,
		.before = copy_column(x, before, COLUMN_VERDICT),
		.verdict = copy_column(x, now, COLUMN_VERDICT),
	};
}

// Goes through both plans in the order of the paths.
static int compare_on_platform(struct catalog *c, int64_t former, int64_t plan, int64_t platform,
	struct catalog_plan_changes *x, struct err *e)
{
	CLEANUP(plan_side_release) struct plan_side before = {0}, now = {0};
	if (open_side(c, PLANNED_BEFORE, former, platform, &before, e) < 0 ||
		open_side(c, PLANNED_NOW, plan, platform, &now, e) < 0)
		return -1;
	if (!before.row || !now.row) // only one of them is about this platform
		return 0;
	while (before.row || now.row) {
		int order = !before.row ? 1
			    : !now.row
				    ? -1
				    : strcmp(query_text(before.query, COLUMN_PATH), query_text(now.query, COLUMN_PATH));
		add_change(x, platform, order <= 0 ? before.query : NULL, order >= 0 ? now.query : NULL);
		if ((order <= 0 && step_side(&before, e) < 0) || (order >= 0 && step_side(&now, e) < 0))
			return -1;
	}
	return 0;
}

// 0: there is none.
static int find_last_plan(struct catalog *c, int64_t *plan, struct err *e)
{
	CLEANUP(query_end) struct query *q = catalog_query(c, PLAN_EXISTS, e);
	int row = q ? query_step(q, e) : -1;
	*plan = row > 0 ? query_int(q, 0) : 0;
	return row < 0 ? -1 : 0;
}

static int compare_platforms(struct catalog *c, int64_t former, int64_t plan, struct catalog_plan_changes *x,
	struct err *e)
{
	int row;
	CLEANUP(query_end) struct query *q = catalog_query_by(c, PLAN_PLATFORMS, BY(SQL_INT(plan)), e);
	if (!q)
		return -1;
	while ((row = query_step(q, e)) > 0)
		if (compare_on_platform(c, former, plan, query_int(q, 0), x, e) < 0)
			return -1;
	return row;
}

int catalog_plan_changes_find(struct catalog *c, int64_t plan, struct catalog_plan_changes *out, struct err *e)
{
	*out = (struct catalog_plan_changes){0};
	if (find_last_plan(c, &out->former, e) < 0)
		return -1;
	return out->former ? compare_platforms(c, out->former, plan, out, e) : 0;
}

static int note_change(struct catalog *c, int64_t plan, const struct catalog_plan_change *x, struct err *e)
{
	CLEANUP(query_end) struct query *q = catalog_query(c, PLAN_CHANGE_ADD, e);
	if (!q)
		return -1;
	const int64_t number[] = {plan, x->platform, x->removed, x->removes, (int64_t)x->size};
	const char *const text[] = {x->project, x->filename, x->before, x->verdict};
	for (size_t i = 0; i < ARRAY_SIZE(number); i++)
		query_bind_int(q, (int)i + 1, number[i]);
	for (size_t i = 0; i < ARRAY_SIZE(text); i++)
		query_bind_text(q, (int)(ARRAY_SIZE(number) + i) + 1, text[i]);
	return query_run(q, e);
}

int catalog_plan_changes_set(struct catalog *c, int64_t plan, const struct catalog_plan_changes *changes, struct err *e)
{
	if (catalog_run_by(c, PLAN_SET_FORMER, BY(SQL_INT(plan), SQL_INT(changes->former)), e) < 0)
		return -1;
	for (size_t i = 0; i < changes->count; i++)
		if (note_change(c, plan, &changes->item[i], e) < 0)
			return -1;
	return 0;
}

void catalog_plan_changes_release(struct catalog_plan_changes *x)
{
	free(x->item);
	arena_release(&x->text);
	*x = (struct catalog_plan_changes){0};
}

int catalog_plan_former(struct catalog *c, struct buf *id, int64_t *made, struct err *e)
{
	CLEANUP(query_end) struct query *q = catalog_query(c, PLAN_FORMER, e);
	int row = q ? query_step(q, e) : -1;
	if (row <= 0)
		return row < 0 ? -1 : err_set(e, ERR_NOT_FOUND, "there was no plan before the last one");
	buf_puts(id, query_text(q, 0));
	*made = query_int(q, 1);
	return 0;
}

int catalog_plan_changes_list(struct catalog *c, int64_t platform, uint64_t limit, catalog_plan_change_fn *fn,
	void *ctx, struct err *e)
{
	int row;
	CLEANUP(query_end) struct query *q = catalog_query_by(c, PLAN_CHANGES, BY(SQL_INT(platform),
		SQL_INT(limit)), e);
	if (!q)
		return -1;
	while ((row = query_step(q, e)) > 0) {
		const struct catalog_plan_change change = {
			.platform = platform,
			.removed = query_int(q, 0),
			.removes = query_int(q, 1),
			.size = (uint64_t)query_int(q, 2),
			.project = query_text(q, 3),
			.filename = query_text(q, 4),
			.before = query_text(q, 5),
			.verdict = query_text(q, 6),
		};
		if (fn(ctx, &change, e) < 0)
			return -1;
	}
	return row;
}
