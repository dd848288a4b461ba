// SPDX-License-Identifier: Apache-2.0
#include "lib/view/merge-platforms.h"

#include <stdlib.h>
#include <string.h>

// A file that outlives the catalog's call.
struct row {
	struct catalog_file file;
	size_t rank; // of its platform: less wins
};

struct rows {
	struct row *row;
	size_t count, room;
	size_t rank;       // of the platform being read
	struct arena text; // of the rows
};

static void rows_release(struct rows *rows)
{
	arena_release(&rows->text);
	free(rows->row);
}

static int gather_file(void *ctx, const struct catalog_file *file, struct err *e UNUSED)
{
	struct rows *rows = ctx;
	GROW(rows->row, rows->count, rows->room);
	struct row *row = &rows->row[rows->count++];
	*row = (struct row){.file = *file, .rank = rows->rank};
	catalog_file_copy(&rows->text, &row->file);
	return 0;
}

static int by_name(const void *a, const void *b)
{
	const struct row *x = a, *y = b;
	int order = strcmp(x->file.filename, y->file.filename);
	return order ? order : (x->rank > y->rank) - (x->rank < y->rank);
}

static int by_version(const void *a, const void *b)
{
	const struct row *x = a, *y = b;
	int order = str_cmp(x->file.version_key, y->file.version_key);
	return order ? order : strcmp(x->file.filename, y->file.filename);
}

// Not while merging by version: the same sdist name may be read as two versions (PKG-INFO decides).
static void drop_shadowed(struct rows *rows)
{
	size_t kept = 0;
	if (!rows->count)
		return;
	qsort(rows->row, rows->count, sizeof(*rows->row), by_name);
	for (size_t i = 1; i < rows->count; i++)
		if (strcmp(rows->row[i].file.filename, rows->row[kept].file.filename) != 0)
			rows->row[++kept] = rows->row[i];
	rows->count = kept + 1;
	qsort(rows->row, rows->count, sizeof(*rows->row), by_version);
}

int merge_platforms_files(const struct platform *const *platform, size_t count, struct catalog *c, const char *project,
	merge_platforms_file_fn *fn, void *ctx, struct err *e)
{
	CLEANUP(rows_release) struct rows rows = {0};
	for (; rows.rank < count; rows.rank++)
		if (catalog_project_files(c, platform[rows.rank]->id, project, gather_file, &rows, e) < 0)
			return -1;
	drop_shadowed(&rows);
	for (size_t i = 0; i < rows.count; i++)
		if (fn(ctx, platform[rows.row[i].rank], &rows.row[i].file, e) < 0)
			return -1;
	return 0;
}

// Names that are owned from taken on; those before it have gone into another list.
struct strset {
	char **name;
	size_t count, room, taken;
};

static void strset_release(struct strset *names)
{
	for (size_t i = names->taken; i < names->count; i++)
		free(names->name[i]);
	free(names->name);
	*names = (struct strset){0};
}

static void strset_add(struct strset *names, char *owned)
{
	GROW(names->name, names->count, names->room);
	names->name[names->count++] = owned;
}

// A sorted list and what comes of it while one more platform's names, sorted too, are merged in.
struct merging {
	struct strset before, after;
};

static void merging_release(struct merging *m)
{
	strset_release(&m->before);
	strset_release(&m->after);
}

static char *next_before(struct merging *m)
{
	return m->before.taken < m->before.count ? m->before.name[m->before.taken] : NULL;
}

static void take_before(struct merging *m)
{
	strset_add(&m->after, m->before.name[m->before.taken++]);
}

static int merge_project(void *ctx, const struct catalog_project *project, struct err *e UNUSED)
{
	struct merging *m = ctx;
	int order = -1;
	while (next_before(m) && (order = strcmp(next_before(m), project->project)) < 0)
		take_before(m);
	if (next_before(m) && order == 0)
		take_before(m);
	else
		strset_add(&m->after, xstrdup(project->project));
	return 0;
}

static void next_platform(struct merging *m)
{
	while (next_before(m))
		take_before(m);
	strset_release(&m->before);
	m->before = m->after;
	m->after = (struct strset){0};
}

int merge_platforms_projects(const struct platform *const *platform, size_t count, struct catalog *c,
	merge_platforms_name_fn *fn, void *ctx, struct err *e)
{
	CLEANUP(merging_release) struct merging m = {0};
	for (size_t i = 0; i < count; i++) {
		if (catalog_projects(c, platform[i]->id, merge_project, &m, e) < 0)
			return -1;
		next_platform(&m);
	}
	for (size_t i = 0; i < m.before.count; i++)
		if (fn(ctx, m.before.name[i], e) < 0)
			return -1;
	return 0;
}
