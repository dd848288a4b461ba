// SPDX-License-Identifier: Apache-2.0
#include "lib/view/merge-platforms.h"

#include <stdlib.h>
#include <string.h>

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

int merge_platforms_files(const struct platform *const *platform, size_t count, const struct member_filter *filter,
	struct catalog *c, const char *project, merge_platforms_file_fn *fn, void *ctx, struct err *e)
{
	CLEANUP(file_copies_release) struct file_copies rows = {0};
	for (; rows.rank < count; rows.rank++)
		if (member_filter_files(filter, c, platform[rows.rank]->id, project, copy_file, &rows, e) < 0)
			return -1;
	if (rows.count && !filter->shows_each)
		drop_shadowed(&rows, filter->view != NULL, filter->left_out);
	if (rows.count)
		qsort(rows.row, rows.count, sizeof(*rows.row), compare_version_and_name);
	for (size_t i = 0; i < rows.count; i++)
		if (fn(ctx, platform[rows.row[i].rank], &rows.row[i].file, e) < 0)
			return -1;
	return 0;
}

// A list of names. It owns those from taken on; the ones before it were moved to another list.
struct name_list {
	char **name;
	size_t count, room, taken;
};

static void name_list_release(struct name_list *names)
{
	for (size_t i = names->taken; i < names->count; i++)
		free(names->name[i]);
	free(names->name);
	*names = (struct name_list){0};
}

static void name_list_add(struct name_list *names, char *owned)
{
	GROW(names->name, names->count, names->room);
	names->name[names->count++] = owned;
}

// The sorted names so far, and the result of merging in the sorted names of one more platform.
struct name_merge {
	struct name_list before, after;
};

static void name_merge_release(struct name_merge *m)
{
	name_list_release(&m->before);
	name_list_release(&m->after);
}

static char *peek_before(struct name_merge *m)
{
	return m->before.taken < m->before.count ? m->before.name[m->before.taken] : NULL;
}

static void move_before(struct name_merge *m)
{
	name_list_add(&m->after, m->before.name[m->before.taken++]);
}

static int merge_project(void *ctx, const struct catalog_project *project, struct err *e UNUSED)
{
	struct name_merge *m = ctx;
	int order = -1;
	while (peek_before(m) && (order = strcmp(peek_before(m), project->project)) < 0)
		move_before(m);
	if (peek_before(m) && order == 0)
		move_before(m);
	else
		name_list_add(&m->after, xstrdup(project->project));
	return 0;
}

static void finish_platform(struct name_merge *m)
{
	while (peek_before(m))
		move_before(m);
	name_list_release(&m->before);
	m->before = m->after;
	m->after = (struct name_list){0};
}

int merge_platforms_projects(const struct platform *const *platform, size_t count, const struct member_filter *filter,
	struct catalog *c, merge_platforms_name_fn *fn, void *ctx, struct err *e)
{
	CLEANUP(name_merge_release) struct name_merge m = {0};
	for (size_t i = 0; i < count; i++) {
		if (member_filter_projects(filter, c, platform[i]->id, merge_project, &m, e) < 0)
			return -1;
		finish_platform(&m);
	}
	for (size_t i = 0; i < m.before.count; i++)
		if (fn(ctx, m.before.name[i], e) < 0)
			return -1;
	return 0;
}
