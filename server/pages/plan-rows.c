// SPDX-License-Identifier: Apache-2.0
#include "server/pages/plan-rows.h"

#include <stdlib.h>
#include <string.h>

#include "pruner/plan/plan.h"

void plan_rows_add(struct plan_rows *rows, const struct catalog_planned *file, const struct platform *platform)
{
	GROW(rows->row, rows->count, rows->room);
	struct plan_row *row = &rows->row[rows->count++];
	*row = (struct plan_row){.file = *file, .platform = platform};
	const char **const text[] = {&row->file.project, &row->file.version, &row->file.filename, &row->file.path,
		&row->file.verdict, &row->file.why, &row->file.reason, &row->file.upstream};
	for (size_t i = 0; i < ARRAY_SIZE(text); i++)
		if (*text[i])
			*text[i] = arena_copy(&rows->text, str_from(*text[i]));
}

void plan_rows_release(struct plan_rows *rows)
{
	free(rows->row);
	arena_release(&rows->text);
	*rows = (struct plan_rows){0};
}

static struct plan_row *find_planned_row(struct plan_rows *rows, const struct planfile_entry *now)
{
	for (size_t i = 0; i < rows->count; i++)
		if (rows->row[i].file.removes && strcmp(rows->row[i].platform->name, now->platform) == 0 &&
			strcmp(rows->row[i].file.path, now->path) == 0)
			return &rows->row[i];
	return NULL;
}

static int compare_row(void *ctx, const struct planfile_entry *now, struct err *e UNUSED)
{
	struct plan_rows *rows = ctx;
	struct plan_row *row = find_planned_row(rows, now);
	if (!row)
		return 0;
	bool is_same = row->file.size == now->size && (!row->file.mtime_ns || row->file.mtime_ns == now->mtime_ns);
	row->state = !is_same ? PLAN_ROW_CHANGED : now->removes ? PLAN_ROW_HOLDS : PLAN_ROW_KEPT;
	if (row->state == PLAN_ROW_KEPT)
		row->words = arena_copy(&rows->text, str_from(now->reason));
	return 0;
}

// A file that nothing was decided about: it is unlisted, or the catalog no longer has it.
static int find_unlisted(struct plan_row *row, struct catalog *c, struct err *e)
{
	CLEANUP(catalog_place_release) struct catalog_place place = {0};
	struct err why = ERR_INIT;
	bool is_there = catalog_find_file(c, row->platform->id, row->file.filename, &place, &why) == 0;
	if (!is_there && why.kind != ERR_NOT_FOUND) {
		*e = why;
		return -1;
	}
	row->state = is_there && place.is_unlisted && strcmp(place.path, row->file.path) == 0 ? PLAN_ROW_UNLISTED
											      : PLAN_ROW_GONE;
	return 0;
}

static int decide_rows(struct plan_rows *rows, const struct plan_check *check, const struct strset *projects,
	bool *has_changed, struct err *e)
{
	const char **name CLEANUP(mem_free) = xcalloc(rows->count + 1, sizeof(const char *));
	CLEANUP(policy_release) struct policy policy = {0};
	struct policy_takes takes = {false};
	for (size_t i = 0; i < check->classes; i++) {
		bool *class = policy_takes_class(&takes, check->class[i]);
		if (class)
			*class = true;
	}
	if (policy_init(&policy, check->config, check->store, &takes, e) < 0)
		return -1;
	*has_changed = check->policy_hash && strcmp(check->policy_hash, policy.hash) != 0;
	for (size_t i = 0; i < rows->count; i++)
		name[i] = rows->row[i].platform->name; // once or more
	const struct plan_again again = {
		.store = check->store,
		.platform = name,
		.platforms = rows->count,
		.catalog = check->catalog,
		.policy = &policy,
		.upstream = check->upstream,
		.projects = projects,
		.entry = compare_row,
		.entry_ctx = rows,
	};
	return plan_decide_again(&again, e);
}

int plan_rows_check(struct plan_rows *rows, const struct plan_check *check, bool *has_changed, struct err *e)
{
	CLEANUP(strset_release) struct strset projects = {0};
	bool has_any = false;
	for (size_t i = 0; i < rows->count; i++) {
		has_any |= rows->row[i].file.removes;
		if (rows->row[i].file.removes && rows->row[i].file.project)
			strset_add(&projects, rows->row[i].file.project);
	}
	strset_sort(&projects);
	if (!has_any)
		return 0;
	if (decide_rows(rows, check, &projects, has_changed, e) < 0)
		return -1;
	for (size_t i = 0; i < rows->count; i++)
		if (rows->row[i].file.removes && rows->row[i].state == PLAN_ROW_UNKNOWN &&
			find_unlisted(&rows->row[i], check->catalog, e) < 0)
			return -1;
	return 0;
}
