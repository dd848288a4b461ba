// SPDX-License-Identifier: Apache-2.0
#include "pruner/plan/quarantined.h"

#include <stdlib.h>
#include <string.h>

#include "lib/domain/text/filename.h"

static const char *project_of_filename(struct quarantined *q, const char *filename)
{
	struct err none = ERR_INIT;
	struct filename name;
	if (filename_parse(str_from(filename), &name, &none) < 0)
		return "";
	const char *project = arena_copy(&q->text, str_from(name.project ? name.project : ""));
	filename_release(&name);
	return project;
}

static int add_quarantined_file(void *ctx, const struct catalog_candidate *file, struct err *e UNUSED)
{
	struct quarantined *q = ctx;
	GROW(q->file, q->count, q->room);
	struct quarantined_file *kept = &q->file[q->count++];
	*kept = (struct quarantined_file){.project = project_of_filename(q, file->filename), .row = *file};
	catalog_candidate_copy(&q->text, &kept->row);
	return 0;
}

static int compare_quarantined(const void *a, const void *b)
{
	const struct quarantined_file *left = a, *right = b;
	int order = strcmp(left->project, right->project);
	if (!order)
		order = (left->row.platform > right->row.platform) - (left->row.platform < right->row.platform);
	return order ? order : strcmp(left->row.path, right->row.path);
}

int quarantined_read(struct quarantined *q, struct catalog *c, struct err *e)
{
	if (catalog_quarantined_files(c, add_quarantined_file, q, e) < 0)
		return -1;
	if (q->count)
		qsort(q->file, q->count, sizeof(*q->file), compare_quarantined);
	return 0;
}

void quarantined_release(struct quarantined *q)
{
	free(q->file);
	arena_release(&q->text);
	*q = (struct quarantined){0};
}
