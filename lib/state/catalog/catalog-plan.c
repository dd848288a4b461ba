// SPDX-License-Identifier: Apache-2.0
#include "lib/state/catalog/catalog-plan.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/limits.h"
#include "lib/os/clock.h"
#include "lib/state/catalog/catalog-query.h"
#include "lib/state/catalog/catalog-write.h"

enum {
	BATCH = 2000,              // files per transaction
	STALE_SECONDS = 24 * 3600, // an older unfinished plan is deleted
};

struct catalog_planner {
	struct catalog *catalog;
	int64_t plan;
	struct catalog_planned *file; // not written yet
	size_t count;
	uint64_t written;
	struct arena text; // of those
};

static int insert_plan(struct catalog *c, int64_t *plan, struct err *e)
{
	int64_t now = clock_wall_seconds(), stale = now - STALE_SECONDS;
	if (catalog_run_by(c, PLAN_FORGET, BY(SQL_INT(stale)), e) < 0)
		return -1;
	CLEANUP(query_end) struct query *q = catalog_query_by(c, PLAN_ADD, BY(SQL_INT(now)), e);
	if (query_run(q, e) < 0)
		return -1;
	*plan = query_new_id(q);
	return 0;
}

int catalog_plan_begin(struct catalog *c, struct catalog_planner **out, struct err *e)
{
	int64_t plan;
	CLEANUP(catalog_rollback) struct catalog_transaction t = {0};
	if (catalog_begin(c, &t, e) < 0)
		return -1;
	if (insert_plan(c, &plan, e) < 0 || catalog_commit(&t, e) < 0)
		return -1;
	*out = xcalloc(1, sizeof(**out));
	**out = (struct catalog_planner){.catalog = c, .plan = plan};
	(*out)->file = xcalloc(BATCH, sizeof(struct catalog_planned));
	return 0;
}

static int write_file(struct catalog_planner *p, const struct catalog_planned *f, struct err *e)
{
	CLEANUP(query_end) struct query *q = catalog_query(p->catalog, PLANNED_ADD, e);
	const char *const text[] = {
		f->project, f->version, f->filename, f->path, f->verdict, f->why, f->reason, f->upstream};
	const int64_t number[] = {p->plan, f->platform, (int64_t)f->size, f->removes, f->is_identical, f->mtime_ns};
	for (size_t i = 0; i < ARRAY_SIZE(number); i++)
		query_bind_int(q, (int)i + 1, number[i]);
	for (size_t i = 0; i < ARRAY_SIZE(text); i++)
		query_bind_text(q, (int)(ARRAY_SIZE(number) + i) + 1, text[i]);
	return query_run(q, e);
}

static int write_batch(struct catalog_planner *p, struct err *e)
{
	for (size_t i = 0; i < p->count; i++)
		if (write_file(p, &p->file[i], e) < 0)
			return -1;
	p->written += p->count;
	p->count = 0;
	arena_release(&p->text);
	return 0;
}

static int flush_batch(struct catalog_planner *p, struct err *e)
{
	CLEANUP(catalog_rollback) struct catalog_transaction t = {0};
	if (catalog_begin(p->catalog, &t, e) < 0)
		return -1;
	return write_batch(p, e) < 0 ? -1 : catalog_commit(&t, e);
}

int catalog_plan_add(struct catalog_planner *p, const struct catalog_planned *file, struct err *e)
{
	struct catalog_planned *copy = &p->file[p->count++];
	*copy = *file;
	const char **const text[] = {&copy->project, &copy->version, &copy->filename, &copy->path, &copy->verdict,
		&copy->why, &copy->reason, &copy->upstream};
	for (size_t i = 0; i < ARRAY_SIZE(text); i++)
		if (*text[i])
			*text[i] = arena_copy(&p->text, str_from(*text[i]));
	return p->count == BATCH ? flush_batch(p, e) : 0;
}

// Another process with another clock may have deleted this plan as stale.
static int is_whole(struct catalog_planner *p, struct err *e)
{
	CLEANUP(query_end) struct query *q = catalog_query(p->catalog, PLAN_FILES, e);
	query_bind_int(q, 1, p->plan);
	if (query_step(q, e) < 0)
		return -1;
	if ((uint64_t)query_int(q, 0) != p->written)
		return err_set(e, ERR_BUSY, "the plan was removed from the catalog meanwhile: plan again");
	return 0;
}

// Compares the last plan with this one, which is not finished yet. Without a last plan there are no changes. To be
// released in any case.
static int find_plan_changes(struct catalog *c, int64_t plan, struct catalog_plan_changes *out,
	struct err *e);
// Notes them, in a transaction of the caller, before the plan becomes the last one.
static int set_plan_changes(struct catalog *c, int64_t plan, const struct catalog_plan_changes *changes,
	struct err *e);
static void release_plan_changes(struct catalog_plan_changes *x); // for CLEANUP

static int finish_plan(struct catalog_planner *p, const struct catalog_plan_changes *changes, const char *id,
	int64_t made, const char *head, struct err *e)
{
	if (write_batch(p, e) < 0 || is_whole(p, e) < 0 ||
		set_plan_changes(p->catalog, p->plan, changes, e) < 0)
		return -1;
	CLEANUP(query_end) struct query *q = catalog_query(p->catalog, PLAN_SET, e);
	query_bind_int(q, 1, p->plan);
	query_bind_text(q, 2, id);
	query_bind_int(q, 3, made);
	query_bind_text(q, 4, head);
	return query_run(q, e) < 0 ? -1 : catalog_run_by(p->catalog, PLAN_REPLACE, BY(SQL_INT(p->plan)), e);
}

int catalog_plan_finish(struct catalog_planner *p, const char *id, int64_t made, const char *head, struct err *e)
{
	CLEANUP(catalog_rollback) struct catalog_transaction t = {0};
	CLEANUP(release_plan_changes) struct catalog_plan_changes changes = {0};
	if ((p->count && flush_batch(p, e) < 0) || find_plan_changes(p->catalog, p->plan, &changes, e) < 0 ||
		catalog_begin(p->catalog, &t, e) < 0)
		return -1;
	return finish_plan(p, &changes, id, made, head, e) < 0 ? -1 : catalog_commit(&t, e);
}

void catalog_plan_cleanup(struct catalog_planner **p)
{
	if (!*p)
		return;
	arena_release(&(*p)->text);
	free((*p)->file);
	free(*p);
	*p = NULL;
}

int catalog_plan_last(struct catalog *c, struct buf *id, int64_t *made, struct buf *head, struct err *e)
{
	CLEANUP(query_end) struct query *q = catalog_query(c, PLAN_LAST, e);
	int row = query_step(q, e);
	if (row <= 0)
		return row < 0 ? -1 : err_set(e, ERR_NOT_FOUND, "no plan of a prune has been made yet");
	buf_puts(id, query_text(q, 0));
	*made = query_int(q, 1);
	buf_puts(head, query_text(q, 2));
	return 0;
}

bool catalog_plan_exists(struct catalog *c)
{
	struct err ignored = ERR_INIT;
	CLEANUP(query_end) struct query *q = catalog_query(c, PLAN_EXISTS, &ignored);
	return q && query_step(q, &ignored) > 0;
}

static void bind_filter(struct query *q, const struct catalog_plan_filter *filter)
{
	query_bind_int(q, 1, filter->platform);
	query_bind_text(q, 2, filter->verdict);
	query_bind_text(q, 3, filter->text);
	query_bind_int(q, 4, filter->removes);
}

int catalog_plan_count(struct catalog *c, const struct catalog_plan_filter *filter, uint64_t *files, uint64_t *bytes,
	struct err *e)
{
	CLEANUP(query_end) struct query *q = catalog_query(c, PLANNED_COUNT, e);
	bind_filter(q, filter);
	if (query_step(q, e) < 0)
		return -1;
	*files = (uint64_t)query_int(q, 0);
	*bytes = (uint64_t)query_int(q, 1);
	return 0;
}

static int report_planned(struct query *q, catalog_planned_fn *fn, void *ctx, struct err *e)
{
	int row;
	while ((row = query_step(q, e)) > 0) {
		const struct catalog_planned file = {
			.platform = query_int(q, 0),
			.size = (uint64_t)query_int(q, 1),
			.removes = query_int(q, 2),
			.is_identical = query_int(q, 3),
			.project = query_text(q, 4),
			.version = query_text(q, 5),
			.filename = query_text(q, 6),
			.path = query_text(q, 7),
			.verdict = query_text(q, 8),
			.why = query_text(q, 9),
			.reason = query_text(q, 10),
			.upstream = query_text(q, 11),
			.mtime_ns = query_int(q, 12),
			.id = query_int(q, 13),
		};
		if (fn(ctx, &file, e) < 0)
			return -1;
	}
	return row;
}

int catalog_plan_files(struct catalog *c, const struct catalog_plan_filter *filter, uint64_t skip, uint64_t limit,
	catalog_planned_fn *fn, void *ctx, struct err *e)
{
	CLEANUP(query_end) struct query *q = catalog_query(c, PLANNED_LIST, e);
	bind_filter(q, filter);
	query_bind_int(q, 5, (int64_t)limit);
	query_bind_int(q, 6, (int64_t)skip);
	return report_planned(q, fn, ctx, e);
}

int catalog_plan_project(struct catalog *c, const char *project, catalog_planned_fn *fn, void *ctx, struct err *e)
{
	CLEANUP(query_end) struct query *q = catalog_query_by(c, PLANNED_PROJECT, BY(SQL_TEXT(project)), e);
	return report_planned(q, fn, ctx, e);
}

int catalog_plan_one(struct catalog *c, int64_t id, catalog_planned_fn *fn, void *ctx, struct err *e)
{
	CLEANUP(query_end) struct query *q = catalog_query_by(c, PLANNED_ONE, BY(SQL_INT(id)), e);
	return report_planned(q, fn, ctx, e);
}

// --- what changed since the last plan ---

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
	int row = query_step(q, e);
	*plan = row > 0 ? query_int(q, 0) : 0;
	return row < 0 ? -1 : 0;
}

static int compare_platforms(struct catalog *c, int64_t former, int64_t plan, struct catalog_plan_changes *x,
	struct err *e)
{
	int row;
	CLEANUP(query_end) struct query *q = catalog_query_by(c, PLAN_PLATFORMS, BY(SQL_INT(plan)), e);
	while ((row = query_step(q, e)) > 0)
		if (compare_on_platform(c, former, plan, query_int(q, 0), x, e) < 0)
			return -1;
	return row;
}

static int find_plan_changes(struct catalog *c, int64_t plan, struct catalog_plan_changes *out, struct err *e)
{
	*out = (struct catalog_plan_changes){0};
	if (find_last_plan(c, &out->former, e) < 0)
		return -1;
	return out->former ? compare_platforms(c, out->former, plan, out, e) : 0;
}

static int note_change(struct catalog *c, int64_t plan, const struct catalog_plan_change *x, struct err *e)
{
	CLEANUP(query_end) struct query *q = catalog_query(c, PLAN_CHANGE_ADD, e);
	const int64_t number[] = {plan, x->platform, x->removed, x->removes, (int64_t)x->size};
	const char *const text[] = {x->project, x->filename, x->before, x->verdict};
	for (size_t i = 0; i < ARRAY_SIZE(number); i++)
		query_bind_int(q, (int)i + 1, number[i]);
	for (size_t i = 0; i < ARRAY_SIZE(text); i++)
		query_bind_text(q, (int)(ARRAY_SIZE(number) + i) + 1, text[i]);
	return query_run(q, e);
}

static int set_plan_changes(struct catalog *c, int64_t plan, const struct catalog_plan_changes *changes, struct err *e)
{
	if (catalog_run_by(c, PLAN_SET_FORMER, BY(SQL_INT(plan), SQL_INT(changes->former)), e) < 0)
		return -1;
	for (size_t i = 0; i < changes->count; i++)
		if (note_change(c, plan, &changes->item[i], e) < 0)
			return -1;
	return 0;
}

static void release_plan_changes(struct catalog_plan_changes *x)
{
	free(x->item);
	arena_release(&x->text);
	*x = (struct catalog_plan_changes){0};
}

int catalog_plan_former(struct catalog *c, struct buf *id, int64_t *made, struct err *e)
{
	CLEANUP(query_end) struct query *q = catalog_query(c, PLAN_FORMER, e);
	int row = query_step(q, e);
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
