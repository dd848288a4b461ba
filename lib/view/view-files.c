// SPDX-License-Identifier: Apache-2.0
// The files and the projects of a view: those of its platforms merged, files by name, and of a view with a membership
// only members whose bytes are those that were promoted. A project's files, or all names, are in memory during the
// call.
#include "lib/view/view.h"

#include <stdlib.h>
#include <string.h>

// --- the files of one platform ---

// Passes the members on.
struct member_reading {
	const struct view *view;
	struct catalog *catalog;
	catalog_file_fn *fn;
	void *ctx;
};

static int pass_member(void *ctx, const struct catalog_file *file, struct err *e)
{
	const struct member_reading *r = ctx;
	int has = catalog_view_has(r->catalog, r->view->membership, r->view->generation, file->platform, file->filename,
		file->sha256, e);
	return has > 0 ? r->fn(r->ctx, file, e) : has;
}

static int read_platform(const struct view *v, struct catalog *c, const struct platform *p, const char *project,
	catalog_file_fn *fn, void *ctx, struct err *e)
{
	struct member_reading r = {v, c, fn, ctx};
	return v->membership ? catalog_project_files(c, p->id, project, pass_member, &r, e)
			     : catalog_project_files(c, p->id, project, fn, ctx, e);
}

// Forwards the rows of the only platform without a merge.
struct single_platform {
	const struct platform *platform;
	view_file_fn *file;
	view_name_fn *name;
	void *ctx;
};

static int forward_file(void *ctx, const struct catalog_file *file, struct err *e)
{
	const struct single_platform *d = ctx;
	return d->file(d->ctx, d->platform, file, e);
}

// --- the files of several, merged by name: the first platform that has the name wins ---

// A copy of a file that outlives the catalog's callback.
struct file_copy {
	struct catalog_file file;
	size_t rank; // of its platform; the lower rank wins
};

struct file_copies {
	struct file_copy *row;
	size_t count, room;
	size_t rank;       // of the platform that is being read
	struct arena text; // the strings of the rows
};

static void file_copies_release(struct file_copies *rows)
{
	arena_release(&rows->text);
	free(rows->row);
}

static int copy_file(void *ctx, const struct catalog_file *file, struct err *e UNUSED)
{
	struct file_copies *rows = ctx;
	GROW(rows->row, rows->count, rows->room);
	struct file_copy *row = &rows->row[rows->count++];
	*row = (struct file_copy){.file = *file, .rank = rows->rank};
	catalog_file_copy(&rows->text, &row->file);
	return 0;
}

static int compare_name_and_rank(const void *a, const void *b)
{
	const struct file_copy *x = a, *y = b;
	int order = strcmp(x->file.filename, y->file.filename);
	return order ? order : (x->rank > y->rank) - (x->rank < y->rank);
}

static int compare_version_and_name(const void *a, const void *b)
{
	const struct file_copy *x = a, *y = b;
	int order = str_cmp(x->file.version_key, y->file.version_key);
	order = order ? order : strcmp(x->file.filename, y->file.filename);
	return order ? order : (x->rank > y->rank) - (x->rank < y->rank);
}

// The end of the rows that have the name of this one; whether their bytes are equal.
static size_t end_of_name(const struct file_copies *rows, size_t from, bool *is_same)
{
	size_t to = from + 1;
	*is_same = true;
	for (; to < rows->count && strcmp(rows->row[to].file.filename, rows->row[from].file.filename) == 0; to++)
		*is_same &= memcmp(rows->row[to].file.sha256, rows->row[from].file.sha256, SHA256_SIZE) == 0;
	return to;
}

// Removes all but the first of equal names. It does not compare versions: PKG-INFO decides the version of an sdist, so
// the same name may have two. needs_same: removes the first, too, unless all have the same bytes. Notes in left_out the
// platforms whose bytes are gone.
static void drop_shadowed(struct file_copies *rows, bool needs_same, bool *left_out)
{
	size_t kept = 0;
	bool is_same;
	qsort(rows->row, rows->count, sizeof(*rows->row), compare_name_and_rank);
	for (size_t from = 0, to; from < rows->count; from = to) {
		to = end_of_name(rows, from, &is_same);
		for (size_t i = needs_same ? from : from + 1; left_out && !is_same && i < to; i++)
			left_out[rows->row[i].rank] = true;
		if (is_same || !needs_same)
			rows->row[kept++] = rows->row[from];
	}
	rows->count = kept;
}

int view_files(const struct view *v, struct catalog *c, const char *project, view_file_fn *fn, void *ctx, struct err *e)
{
	CLEANUP(file_copies_release) struct file_copies rows = {0};
	if (v->omits_ours)
		return 0;
	if (v->platform_count == 1) {
		struct single_platform d = {.platform = v->platform[0], .file = fn, .ctx = ctx};
		return read_platform(v, c, d.platform, project, forward_file, &d, e);
	}
	for (; rows.rank < v->platform_count; rows.rank++)
		if (read_platform(v, c, v->platform[rows.rank], project, copy_file, &rows, e) < 0)
			return -1;
	if (rows.count && !v->shows_each)
		drop_shadowed(&rows, v->membership != NULL, v->left_out);
	if (rows.count)
		qsort(rows.row, rows.count, sizeof(*rows.row), compare_version_and_name);
	for (size_t i = 0; i < rows.count; i++)
		if (fn(ctx, v->platform[rows.row[i].rank], &rows.row[i].file, e) < 0)
			return -1;
	return 0;
}

// --- the names of projects, sorted, each once ---

struct name_list {
	const char **name;
	size_t count, room;
};

// The names so far, and these with the sorted names of one more platform.
struct name_merge {
	struct name_list before, after;
	size_t next; // of before
	struct arena text;
};

static void name_merge_release(struct name_merge *m)
{
	free(m->before.name);
	free(m->after.name);
	arena_release(&m->text);
}

static void list_project_name(struct name_merge *m, const char *name)
{
	GROW(m->after.name, m->after.count, m->after.room);
	m->after.name[m->after.count++] = name;
}

static int merge_project(void *ctx, const struct catalog_project *project, struct err *e UNUSED)
{
	struct name_merge *m = ctx;
	int order = -1;
	while (m->next < m->before.count && (order = strcmp(m->before.name[m->next], project->project)) < 0)
		list_project_name(m, m->before.name[m->next++]);
	if (m->next < m->before.count && order == 0)
		list_project_name(m, m->before.name[m->next++]);
	else
		list_project_name(m, arena_copy(&m->text, str_from(project->project)));
	return 0;
}

static int forward_project(void *ctx, const struct catalog_project *project, struct err *e)
{
	const struct single_platform *d = ctx;
	return d->name(d->ctx, project->project, e);
}

static int read_projects(const struct view *v, struct catalog *c, const struct platform *p, catalog_project_fn *fn,
	void *ctx, struct err *e)
{
	return v->membership ? catalog_view_projects(c, v->membership, v->generation, p->id, fn, ctx, e)
			     : catalog_projects(c, p->id, fn, ctx, e);
}

int view_projects(const struct view *v, struct catalog *c, view_name_fn *fn, void *ctx, struct err *e)
{
	CLEANUP(name_merge_release) struct name_merge m = {0};
	if (v->platform_count == 1) {
		struct single_platform d = {.platform = v->platform[0], .name = fn, .ctx = ctx};
		return read_projects(v, c, d.platform, forward_project, &d, e);
	}
	for (size_t i = 0; i < v->platform_count; i++) {
		if (read_projects(v, c, v->platform[i], merge_project, &m, e) < 0)
			return -1;
		while (m.next < m.before.count)
			list_project_name(&m, m.before.name[m.next++]);
		struct name_list used = m.before;
		m.before = m.after;
		m.after = (struct name_list){used.name, 0, used.room};
		m.next = 0;
	}
	for (size_t i = 0; i < m.before.count; i++)
		if (fn(ctx, m.before.name[i], e) < 0)
			return -1;
	return 0;
}
