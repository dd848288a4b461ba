// SPDX-License-Identifier: Apache-2.0
#include "pruner/plan/quarantined.h"

#include <stdlib.h>
#include <string.h>

#include "lib/domain/text/filename.h"

static const char *project_of(struct quarantined *r, const char *filename)
{
	struct err none = ERR_INIT;
	struct filename name;
	if (filename_parse(str_from(filename), &name, &none) < 0)
		return "";
	const char *project = arena_copy(&r->text, str_from(name.project ? name.project : ""));
	filename_release(&name);
	return project;
}

static int keep(void *ctx, const struct catalog_candidate *file, struct err *e UNUSED)
{
	struct quarantined *r = ctx;
	GROW(r->file, r->count, r->room);
	struct quarantined_file *kept = &r->file[r->count++];
	*kept = (struct quarantined_file){.project = project_of(r, file->filename), .held = *file};
	catalog_candidate_copy(&r->text, &kept->held);
	return 0;
}

static int by_project(const void *a, const void *b)
{
	const struct quarantined_file *left = a, *right = b;
	int order = strcmp(left->project, right->project);
	if (!order)
		order = (left->held.platform > right->held.platform) - (left->held.platform < right->held.platform);
	return order ? order : strcmp(left->held.path, right->held.path);
}

int quarantined_read(struct quarantined *r, struct catalog *c, struct err *e)
{
	if (catalog_quarantined_files(c, keep, r, e) < 0)
		return -1;
	if (r->count)
		qsort(r->file, r->count, sizeof(*r->file), by_project);
	return 0;
}

void quarantined_release(struct quarantined *r)
{
	free(r->file);
	arena_release(&r->text);
	*r = (struct quarantined){0};
}
