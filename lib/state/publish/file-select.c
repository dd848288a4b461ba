// SPDX-License-Identifier: Apache-2.0
#include "lib/state/publish/file-select.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/limits.h"
#include "lib/domain/text/name.h"
#include "lib/domain/text/specifier.h"

// Where the specifier begins; the length of the word: there is none. In brackets "!" is a part of a glob.
static size_t find_specifier(const char *word)
{
	size_t at = strcspn(word, "[=<>!~");
	return word[at] == '[' ? strlen(word) : at;
}

bool file_select_is(const char *word)
{
	return !strchr(word, '/') && (word[find_specifier(word)] || strpbrk(word, "*?["));
}

int file_select_read(const char *word, struct file_select *out, struct err *e)
{
	size_t at = find_specifier(word);
	CLEANUP(buf_release) struct buf project;
	buf_init(&project, LIMIT_FILE_NAME);
	*out = (struct file_select){.word = word};
	if (!word[at])
		return 0;
	name_normalize((struct str){word, at}, &project);
	out->specifier = specifier_set_new(str_from(word + at));
	if (!project.len || project.failed || !out->specifier)
		return err_set(e, ERR_USAGE, "%s: expected PROJECT==VERSION, a specifier such as mine>=1,<2, or a glob of files",
			word);
	out->project = buf_steal(&project);
	return 0;
}

void file_select_release(struct file_select *s)
{
	free(s->project);
	specifier_set_free(s->specifier);
	*s = (struct file_select){0};
}

// --- the files of a platform ---

struct file_selection {
	const struct file_select *select;
	struct catalog *catalog;
	int64_t platform;
	const char *project; // of the files that are looked at
	file_select_fn *fn;
	void *ctx;
};

static bool selects_file(const struct file_select *s, const struct catalog_file *file)
{
	if (!s->project)
		return fnmatch(s->word, file->filename, 0) == 0;
	CLEANUP(specifier_version_cleanup) struct specifier_version *version = specifier_version_new(file->version);
	return version && specifier_set_contains(s->specifier, version);
}

static int take_selected_file(void *ctx, const struct catalog_file *file, struct err *e)
{
	struct file_selection *s = ctx;
	return selects_file(s->select, file) ? s->fn(s->ctx, s->project, file->filename, e) : 0;
}

static int take_files_of_project(void *ctx, const struct catalog_project *p, struct err *e)
{
	struct file_selection *s = ctx;
	s->project = p->project;
	return catalog_project_files(s->catalog, s->platform, p->project, take_selected_file, s, e);
}

int file_select_each(const struct file_select *s, const struct platform *p, struct catalog *c, file_select_fn *fn, void *ctx,
	struct err *e)
{
	struct file_selection x = {
		.select = s, .catalog = c, .platform = p->id, .project = s->project, .fn = fn, .ctx = ctx};
	return s->project ? catalog_project_files(c, p->id, s->project, take_selected_file, &x, e)
			  : catalog_projects(c, p->id, take_files_of_project, &x, e);
}

// --- names ---

static int add_selected_name(void *ctx, const char *project UNUSED, const char *filename, struct err *e UNUSED)
{
	strset_add(ctx, filename);
	return 0;
}

int file_select_names(const char *word, const struct store *store, const char *platform, struct catalog *c,
	struct strset *names, struct err *e)
{
	CLEANUP(file_select_release) struct file_select s = {0};
	if (file_select_read(word, &s, e) < 0)
		return -1;
	for (size_t i = 0; i < store->platform_count; i++) {
		const struct platform *p = &store->platform[i];
		if (p->id && (!platform || strcmp(p->name, platform) == 0) &&
			file_select_each(&s, p, c, add_selected_name, names, e) < 0)
			return -1;
	}
	strset_sort(names);
	return names->count ? 0 : err_set(e, ERR_NOT_FOUND, "no listed file is %s", word);
}
