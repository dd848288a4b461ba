// SPDX-License-Identifier: Apache-2.0
#include "builder/missing/removed-wheels.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/search.h"
#include "lib/domain/text/filename.h"
#include "lib/domain/text/specifier.h"
#include "lib/state/catalog/catalog-mark.h"
#include "lib/state/store/tombstone.h"

struct removed_reading {
	struct removed_wheels *to;
	const struct strset *projects;
	struct fits *fits;
};

static int on_removed_wheel(void *ctx, const struct catalog_marked *mark, struct err *e UNUSED)
{
	struct removed_reading *x = ctx;
	struct removed_wheels *r = x->to;
	struct err ignored = ERR_INIT;
	CLEANUP(filename_release) struct filename name = {0};
	CLEANUP(tombstone_release) struct tombstone stone = {0};
	if (filename_parse(str_from(mark->filename), &name, &ignored) < 0 || name.kind != FILENAME_WHEEL ||
		!strset_has(x->projects, name.project))
		return 0;
	tombstone_read(str_from(mark->text ? mark->text : ""), &stone);
	GROW(r->wheel, r->count, r->room);
	r->wheel[r->count++] = (struct removed_wheel){
		.project = arena_copy(&r->text, str_from(name.project)),
		.platform = mark->platform,
		.version = name.version,
		.tags = fits_tags(x->fits, &name),
		// Only its tombstone has it after a purge.
		.python = fits_python(x->fits, mark->requires_python ? mark->requires_python : stone.requires_python),
		.filename = arena_copy(&r->text, str_from(mark->filename)),
		.reason = arena_copy(&r->text, str_from(mark->reason)),
		.build = filename_build_number(&name),
		.is_by_us = tombstone_is_by_us(&stone),
		.has_file = mark->has_file,
	};
	name.version = (struct version){0};
	return 0;
}

int removed_wheels_read(struct removed_wheels *r, struct catalog *c, int64_t platform, const struct strset *projects,
	struct fits *fits, struct err *e)
{
	struct removed_reading x = {r, projects, fits};
	return catalog_marks(c, platform, MARK_PRUNED, on_removed_wheel, &x, e);
}

static int compare_removed(const void *a, const void *b)
{
	const struct removed_wheel *left = a, *right = b;
	int order = strcmp(left->project, right->project);
	if (order == 0)
		order = (left->platform > right->platform) - (left->platform < right->platform);
	return order ? order : strcmp(left->filename, right->filename);
}

void removed_wheels_sort(struct removed_wheels *r)
{
	if (r->count)
		qsort(r->wheel, r->count, sizeof(*r->wheel), compare_removed);
}

void removed_wheels_release(struct removed_wheels *r)
{
	for (size_t i = 0; i < r->count; i++)
		version_release(&r->wheel[i].version);
	free(r->wheel);
	arena_release(&r->text);
	*r = (struct removed_wheels){0};
}

static bool is_of_earlier_project(const void *wheel, const void *project)
{
	return strcmp(((const struct removed_wheel *)wheel)->project, project) < 0;
}

// The index of the first wheel of the project.
static size_t first_of(const struct removed_wheels *r, const char *project)
{
	return lower_bound(project, r->wheel, r->count, sizeof(*r->wheel), is_of_earlier_project);
}

static bool is_of_version(const struct removed_wheel *w, const struct version *version, const char *specifier)
{
	return version ? version_cmp(&w->version, version) == 0
		       : specifier_set_admits(str_from(specifier), &w->version);
}

const struct removed_wheel *removed_wheels_find(const struct removed_wheels *r, struct fits *fits,
	const struct removed_question *q)
{
	for (size_t i = first_of(r, q->project); i < r->count && strcmp(r->wheel[i].project, q->project) == 0; i++) {
		const struct removed_wheel *w = &r->wheel[i];
		if (w->platform == q->platform && w->is_by_us == q->is_by_us &&
			(fits_micros(fits, w->python, q->environment) & q->micros) &&
			fits_rank(fits, w->tags, q->environment) >= 0 && is_of_version(w, q->version, q->specifier))
			return w;
	}
	return NULL;
}

bool removed_wheels_build(const struct removed_wheels *r, const char *project, int64_t platform,
	const struct version *version, unsigned *build)
{
	bool found = false;
	for (size_t i = first_of(r, project); i < r->count && strcmp(r->wheel[i].project, project) == 0; i++) {
		const struct removed_wheel *w = &r->wheel[i];
		if (w->platform != platform || version_cmp(&w->version, version) != 0)
			continue;
		*build = found && *build > w->build ? *build : w->build;
		found = true;
	}
	return found;
}
