// SPDX-License-Identifier: Apache-2.0
#include "promoter/promoted-times.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/arena.h"
#include "lib/base/mem.h"

struct promoted_generation {
	int64_t number, made;
};

struct promoted_file {
	int64_t platform, made;
	const char *filename;
};

struct promoted_times {
	const char *view;
	struct catalog *catalog;
	struct promoted_generation *generation; // the newest first
	size_t generations, generation_room;
	struct promoted_file *file; // of the project, by file name and platform
	size_t files, file_room;
	struct arena text;
};

static int add_generation(void *ctx, const struct catalog_generation *g, struct err *e UNUSED)
{
	struct promoted_times *t = ctx;
	GROW(t->generation, t->generations, t->generation_room);
	t->generation[t->generations++] = (struct promoted_generation){g->number, g->made};
	return 0;
}

int promoted_times_open(const char *view, struct catalog *c, struct promoted_times **out, struct err *e)
{
	struct promoted_times *t = xcalloc(1, sizeof(*t));
	*t = (struct promoted_times){.view = view, .catalog = c};
	if (catalog_view_generations(c, view, INT64_MAX, UINT64_MAX, add_generation, t, e) < 0) {
		promoted_times_close(t);
		return -1;
	}
	*out = t;
	return 0;
}

void promoted_times_close(struct promoted_times *t)
{
	if (!t)
		return;
	free(t->generation);
	free(t->file);
	arena_release(&t->text);
	free(t);
}

static int compare_numbers(const void *a, const void *b)
{
	const struct promoted_generation *x = a, *y = b;
	return (x->number < y->number) - (x->number > y->number);
}

static int64_t time_of_generation(const struct promoted_times *t, int64_t number)
{
	const struct promoted_generation wanted = {.number = number}, *found = NULL;
	if (t->generations)
		found = bsearch(&wanted, t->generation, t->generations, sizeof(wanted), compare_numbers);
	return found ? found->made : 0;
}

static int compare_promoted_files(const void *a, const void *b)
{
	const struct promoted_file *x = a, *y = b;
	int order = strcmp(x->filename, y->filename);
	return order ? order : (x->platform > y->platform) - (x->platform < y->platform);
}

static int add_member(void *ctx, const struct catalog_member *m, struct err *e UNUSED)
{
	struct promoted_times *t = ctx;
	GROW(t->file, t->files, t->file_room);
	t->file[t->files++] = (struct promoted_file){
		m->platform, time_of_generation(t, m->since), arena_copy(&t->text, str_from(m->filename))};
	return 0;
}

int promoted_times_load(struct promoted_times *t, const char *project, struct err *e)
{
	t->files = 0;
	arena_release(&t->text);
	if (catalog_view_members(t->catalog, t->view, GENERATION_NEWEST, project, add_member, t, e) < 0)
		return -1;
	if (t->files)
		qsort(t->file, t->files, sizeof(*t->file), compare_promoted_files);
	return 0;
}

int64_t promoted_times_find(const struct promoted_times *t, int64_t platform, const char *filename)
{
	const struct promoted_file wanted = {.platform = platform, .filename = filename}, *found = NULL;
	if (t->files)
		found = bsearch(&wanted, t->file, t->files, sizeof(wanted), compare_promoted_files);
	return found ? found->made : 0;
}
