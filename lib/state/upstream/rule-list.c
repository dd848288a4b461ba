// SPDX-License-Identifier: Apache-2.0
#include "lib/state/upstream/rule-list.h"

#include <fnmatch.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/base/limits.h"
#include "lib/base/log.h"
#include "lib/domain/text/filename.h"
#include "lib/domain/text/specifier.h"
#include "lib/os/clock.h"
#include "lib/os/fs.h"

struct rule_list {
	atomic_uint refs;
	char *path;
	const char *key; // of an upstream; NULL: [server] deny
	struct stat seen;
	bool is_missing; // at the last look
	struct requirements lines;
	char *error;             // NULL: none
	int64_t failed;          // since when
	struct rule_list *older; // with an error: whose lines count
};

static int read_lines(struct rule_list *l, struct err *e)
{
	CLEANUP(buf_release) struct buf text = buf_up_to(LIMIT_REQUIREMENTS);
	if (stat(l->path, &l->seen) < 0) // before it is read
		l->seen = (struct stat){0};
	if (fs_read_file(l->path, &text, e) < 0 ||
		requirements_parse(&l->lines, buf_view(&text), l->path, REQUIREMENT_PACKAGES, e) < 0)
		return -1;
	for (size_t i = 0; i < l->lines.count && l->key; i++)
		if (l->lines.item[i].platform)
			return err_set(e, ERR_USAGE, "%s: files of upstreams have no platform", l->lines.item[i].source);
	return 0;
}

static int read_rule_list(const char *path, const char *key, struct rule_list **out, struct err *e)
{
	struct rule_list *l = *out = xcalloc(1, sizeof(*l));
	atomic_init(&l->refs, 1);
	l->path = xstrdup(path);
	l->key = key;
	if (read_lines(l, e) == 0)
		return 0;
	return key ? err_prefix(e, "[upstream] %s: ", key) : err_prefix(e, "[server] deny: ");
}

int rule_list_open(const char *path, const char *key_of_upstream, struct rule_list **out, struct err *e)
{
	*out = NULL;
	if (!path || read_rule_list(path, key_of_upstream, out, e) == 0)
		return 0;
	rule_list_cleanup(out);
	return -1;
}

struct rule_list *rule_list_renew(struct rule_list *l)
{
	struct err e = ERR_INIT;
	struct rule_list *now;
	if (read_rule_list(l->path, l->key, &now, &e) == 0)
		return now;
	requirements_release(&now->lines);
	now->older = rule_list_ref(l->older ? l->older : l);
	now->error = xstrdup(e.msg);
	now->failed = l->error ? l->failed : clock_wall_seconds();
	if (!l->error || strcmp(l->error, now->error) != 0)
		log_error("%s; what it said before counts", now->error);
	return now;
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
	rule_list_unref(l->older);
	free(l->error);
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
	return !l ? &none : l->older ? &l->older->lines : &l->lines;
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

bool rule_list_has_changed(struct rule_list *l)
{
	struct stat now = {0};
	if (!l)
		return false;
	bool was_missing = l->is_missing;
	l->is_missing = stat(l->path, &now) < 0;
	if (l->is_missing)
		return was_missing && l->seen.st_ino;
	return !fs_is_unchanged(&now, &l->seen);
}

void rule_list_tell(const struct rule_list *l, const char **path, const char **error, int64_t *failed)
{
	*path = l->path;
	*error = l->error;
	*failed = l->failed;
}
