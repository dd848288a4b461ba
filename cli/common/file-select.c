// SPDX-License-Identifier: Apache-2.0
#include "cli/common/file-select.h"

#include <fnmatch.h>
#include <string.h>

#include "lib/base/limits.h"
#include "lib/domain/text/name.h"
#include "lib/domain/text/specifier.h"

struct file_selection {
	struct str specifier; // empty: the word is a glob
	const char *glob;
	struct strset *names;
	struct catalog *catalog;
	int64_t platform;
};

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

static int add_selected_file(void *ctx, const struct catalog_file *file, struct err *e UNUSED)
{
	struct file_selection *s = ctx;
	struct err unknown = ERR_INIT;
	CLEANUP(version_release) struct version version = {0};
	bool is_selected = s->glob ? fnmatch(s->glob, file->filename, 0) == 0
				   : version_parse(str_from(file->version), &version, &unknown) == 0 &&
					     specifier_set_admits(s->specifier, &version);
	if (is_selected)
		strset_add(s->names, file->filename);
	return 0;
}

static int add_files_of_project(void *ctx, const struct catalog_project *p, struct err *e)
{
	struct file_selection *s = ctx;
	return catalog_project_files(s->catalog, s->platform, p->project, add_selected_file, s, e);
}

static int select_on_platforms(struct file_selection *s, const struct store *store, const char *platform,
	const char *project, struct err *e)
{
	for (size_t i = 0; i < store->platform_count; i++) {
		const struct platform *p = &store->platform[i];
		s->platform = p->id;
		if (!p->id || (platform && strcmp(p->name, platform) != 0))
			continue;
		int result = project ? catalog_project_files(s->catalog, p->id, project, add_selected_file, s, e)
				     : catalog_projects(s->catalog, p->id, add_files_of_project, s, e);
		if (result < 0)
			return -1;
	}
	strset_sort(s->names);
	return 0;
}

int file_select(const char *word, const struct store *store, const char *platform, struct catalog *c,
	struct strset *names, struct err *e)
{
	size_t at = find_specifier(word);
	struct file_selection s = {.names = names, .catalog = c, .glob = word[at] ? NULL : word};
	CLEANUP(buf_release) struct buf project;
	buf_init(&project, LIMIT_FILE_NAME);
	s.specifier = str_from(word + at);
	name_normalize((struct str){word, at}, &project);
	if (!s.glob && (!project.len || project.failed || !specifier_set_is_valid(s.specifier)))
		return err_set(e, ERR_USAGE, "%s: expected PROJECT==VERSION, a specifier such as mine>=1,<2, or a glob of files",
			word);
	if (select_on_platforms(&s, store, platform, s.glob ? NULL : project.data, e) < 0)
		return -1;
	return names->count ? 0 : err_set(e, ERR_NOT_FOUND, "no listed file is %s", word);
}
