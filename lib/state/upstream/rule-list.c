// SPDX-License-Identifier: Apache-2.0
#include "lib/state/upstream/rule-list.h"

#include <fnmatch.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "lib/base/limits.h"
#include "lib/domain/text/filename.h"
#include "lib/domain/text/specifier.h"
#include "lib/os/fs.h"

struct rule_list {
	atomic_uint refs;
	char *path;
	struct stat seen;
	bool is_missing; // at the last look
	struct requirements lines;
};

void rule_list_blame(struct rule_list *l)
{
	if (l && stat(l->path, &l->seen) < 0)
		l->seen = (struct stat){0};
}

int rule_list_read(const char *path, bool has_platforms, struct requirements *out, struct err *e)
{
	CLEANUP(buf_release) struct buf text = buf_up_to(LIMIT_REQUIREMENTS);
	if (fs_read_file(path, &text, e) < 0 ||
		requirements_parse(out, buf_view(&text), path, REQUIREMENT_PACKAGES, e) < 0)
		return -1;
	for (size_t i = 0; i < out->count && !has_platforms; i++)
		if (out->item[i].platform)
			return err_set(e, ERR_USAGE, "%s: files of upstreams have no platform", out->item[i].source);
	return 0;
}

int rule_list_open(const char *path, bool has_platforms, struct rule_list **out, struct err *e)
{
	*out = NULL;
	if (!path)
		return 0;
	CLEANUP(rule_list_cleanup) struct rule_list *l = xcalloc(1, sizeof(*l));
	atomic_init(&l->refs, 1);
	l->path = xstrdup(path);
	rule_list_blame(l); // before it is read
	if (rule_list_read(path, has_platforms, &l->lines, e) < 0)
		return -1;
	*out = STEAL_PTR(l);
	return 0;
}

struct rule_list *rule_list_ref(struct rule_list *l)
{
	if (l)
		atomic_fetch_add_explicit(&l->refs, 1, memory_order_relaxed);
	return l;
}

void rule_list_unref(struct rule_list *l)
{
	if (!l || atomic_fetch_sub_explicit(&l->refs, 1, memory_order_acq_rel) != 1)
		return;
	requirements_release(&l->lines);
	free(l->path);
	free(l);
}

void rule_list_cleanup(struct rule_list **l)
{
	rule_list_unref(*l);
	*l = NULL;
}

const struct requirements *rule_list_lines(const struct rule_list *l)
{
	static const struct requirements none;
	return l ? &l->lines : &none;
}

const struct requirement *rule_list_find(const struct rule_list *l, const char *project, const char *filename,
	const char *platform)
{
	size_t count;
	struct err ignored = ERR_INIT;
	const struct requirement *line = requirements_of(rule_list_lines(l), project, &count), *found = NULL;
	if (!count)
		return NULL;
	CLEANUP(filename_release) struct filename name = {0};
	bool has_version = filename_parse_listed(str_from(filename), project, &name, &ignored) == 0;
	for (size_t i = 0; i < count && !found; i++) {
		bool is_of_platform = !line[i].platform || fnmatch(line[i].platform, platform, 0) == 0;
		if (is_of_platform && (!has_version || specifier_set_admits(str_from(line[i].specifier), &name.version)))
			found = &line[i];
	}
	return found;
}

bool rule_list_file_has_changed(const char *path, const struct stat *seen, bool *is_missing)
{
	struct stat now = {0};
	bool was_missing = *is_missing;
	*is_missing = stat(path, &now) < 0;
	if (*is_missing)
		return was_missing && seen->st_ino;
	return !fs_is_unchanged(&now, seen);
}

bool rule_list_has_changed(struct rule_list *l)
{
	return l && rule_list_file_has_changed(l->path, &l->seen, &l->is_missing);
}
