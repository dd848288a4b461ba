// SPDX-License-Identifier: Apache-2.0
#include "lib/state/publish/file-select.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/limits.h"
#include "lib/domain/text/name.h"
#include "lib/domain/text/specifier.h"

bool project_select_read(const char *word, size_t at, struct project_select *out)
{
	struct str name = str_trim((struct str){word, at});
	CLEANUP(buf_release) struct buf normal = buf_up_to(LIMIT_FILE_NAME);
	*out = (struct project_select){.specifier = word[at] ? specifier_set_new(str_from(word + at)) : NULL};
	if (!name_is_valid(name) || (word[at] && !out->specifier))
		return false;
	name_normalize(name, &normal);
	out->project = normal.failed ? NULL : buf_steal(&normal);
	return out->project;
}

void project_select_release(struct project_select *s)
{
	free(s->project);
	specifier_set_free(s->specifier);
	*s = (struct project_select){0};
}

bool project_select_admits(const struct project_select *s, const struct specifier_version *version)
{
	return !s->specifier || (version && specifier_set_contains(s->specifier, version));
}

// --- words that mean several files ---

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
	*out = (struct file_select){.word = word};
	return !word[at] || project_select_read(word, at, &out->select)
		       ? 0
		       : err_set(e, ERR_USAGE,
				 "%s: expected PROJECT==VERSION, a specifier such as mine>=1,<2, or a glob of files", word);
}

void file_select_release(struct file_select *s)
{
	project_select_release(&s->select);
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
	if (!s->select.project)
		return fnmatch(s->word, file->filename, 0) == 0;
	CLEANUP(specifier_version_cleanup) struct specifier_version *version = specifier_version_new(file->version);
	return project_select_admits(&s->select, version);
}

static int pass_selected_file(void *ctx, const struct catalog_file *file, struct err *e)
{
	struct file_selection *s = ctx;
	return selects_file(s->select, file) ? s->fn(s->ctx, s->project, file->filename, e) : 0;
}

static int pass_files_of_project(void *ctx, const struct catalog_project *p, struct err *e)
{
	struct file_selection *s = ctx;
	s->project = p->project;
	return catalog_project_files(s->catalog, s->platform, p->project, pass_selected_file, s, e);
}

int file_select_each(const struct file_select *s, const struct platform *p, struct catalog *c, file_select_fn *fn, void *ctx,
	struct err *e)
{
	struct file_selection x = {
		.select = s, .catalog = c, .platform = p->id, .project = s->select.project, .fn = fn, .ctx = ctx};
	return x.project ? catalog_project_files(c, p->id, x.project, pass_selected_file, &x, e)
			 : catalog_projects(c, p->id, pass_files_of_project, &x, e);
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
