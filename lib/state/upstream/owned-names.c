// SPDX-License-Identifier: Apache-2.0
#include "lib/state/upstream/owned-names.h"

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/limits.h"
#include "lib/base/log.h"
#include "lib/base/search.h"
#include "lib/domain/text/name.h"
#include "lib/os/clock.h"
#include "lib/os/fs.h"
#include "lib/os/safefile.h"

enum { SETTLE_MS = 2000 };

struct list {
	char *text;           // NULL: it was never read
	const char **project; // sorted; in text
	size_t count, room;
};

struct owned_names {
	char *path;
	owned_names_fn *moved; // NULL: none
	void *ctx;             // of moved
	pthread_mutex_t lock;
	struct stat seen, shorter; // of the file that was read, and of a shorter one; st_ino 0: none
	int64_t shorter_ms;        // since when it is shorter; 0: it is not
	struct list list;
};

static void release_list(struct list *l)
{
	free(l->project);
	free(l->text);
	*l = (struct list){0};
}

// Takes ownership of the text.
static struct list index_text(char *text)
{
	struct list l = {.text = text};
	for (char *line = text, *end; *line; line = end) {
		end = line + strcspn(line, "\n");
		bool is_last = !*end;
		*end = '\0';
		line[strcspn(line, " \t\r")] = '\0';
		if (name_is_valid(str_from(line)) && name_is_normal(str_from(line))) {
			GROW(l.project, l.count, l.room);
			l.project[l.count++] = line;
		}
		end += !is_last;
	}
	if (l.count)
		qsort(l.project, l.count, sizeof(*l.project), compare_strings);
	return l;
}

static bool list_has(const struct list *l, const char *project)
{
	return l->count && bsearch(&project, l->project, l->count, sizeof(*l->project), compare_strings);
}

// Reports the names of one list that the other does not have, except `added`, which this process added.
static void report_moved(const struct owned_names *o, const struct list *one, const struct list *other,
	const char *added)
{
	for (size_t i = 0; o->moved && i < one->count; i++)
		if (!list_has(other, one->project[i]) && strcmp(one->project[i], added) != 0)
			o->moved(o->ctx, one->project[i]);
}

static bool is_same_stat(const struct stat *a, const struct stat *b)
{
	return a->st_ino == b->st_ino && a->st_dev == b->st_dev && a->st_size == b->st_size &&
	       fs_mtime_ns(a) == fs_mtime_ns(b);
}

// An editor that writes a file may truncate or rename it first.
static bool is_being_written(struct owned_names *o, const struct stat *now)
{
	if (!o->list.text || now->st_size >= o->seen.st_size)
		return false;
	if (!o->shorter_ms || !is_same_stat(now, &o->shorter)) {
		o->shorter = *now;
		o->shorter_ms = clock_ms();
	}
	return clock_ms() - o->shorter_ms < SETTLE_MS;
}

// Under the lock. added: the name that this process has just added, or "".
static int reload_names(struct owned_names *o, const char *added, struct err *e)
{
	struct stat now = {0};
	CLEANUP(buf_release) struct buf text;
	buf_init(&text, LIMIT_OWNED_NAMES);
	if (stat(o->path, &now) < 0 && errno != ENOENT)
		return err_errno(e, ERR_IO, "%s", o->path);
	if ((is_same_stat(&now, &o->seen) && o->list.text) || is_being_written(o, &now))
		return 0;
	if (now.st_ino && safefile_read(o->path, &text, e) < 0)
		return -1;
	buf_putc(&text, '\0');
	struct list before = o->list;
	o->list = index_text(buf_steal(&text));
	o->seen = now;
	o->shorter_ms = 0;
	report_moved(o, &before, &o->list, added);
	report_moved(o, &o->list, &before, added);
	release_list(&before);
	return 0;
}

int owned_names_open(const char *path, struct owned_names **out, struct err *e)
{
	CLEANUP(owned_names_cleanup) struct owned_names *o = xcalloc(1, sizeof(*o));
	o->path = xstrdup(path);
	pthread_mutex_init(&o->lock, NULL);
	if (reload_names(o, "", e) < 0)
		return -1;
	*out = STEAL_PTR(o);
	return 0;
}

void owned_names_close(struct owned_names *o)
{
	if (!o)
		return;
	pthread_mutex_destroy(&o->lock);
	release_list(&o->list);
	free(o->path);
	free(o);
}

void owned_names_cleanup(struct owned_names **o)
{
	owned_names_close(*o);
}

void owned_names_watch(struct owned_names *o, owned_names_fn *moved, void *ctx)
{
	o->moved = moved;
	o->ctx = ctx;
}

// Under the lock.
static void reload_if_changed(struct owned_names *o, const char *added)
{
	struct err e = ERR_INIT;
	if (reload_names(o, added, &e) < 0)
		log_error("cannot read the names that are ours: %s", e.msg);
}

void owned_names_look(struct owned_names *o)
{
	pthread_mutex_lock(&o->lock);
	reload_if_changed(o, "");
	pthread_mutex_unlock(&o->lock);
}

bool owned_names_has(struct owned_names *o, const char *project)
{
	pthread_mutex_lock(&o->lock);
	reload_if_changed(o, "");
	bool is_there = list_has(&o->list, project);
	pthread_mutex_unlock(&o->lock);
	return is_there;
}

// Whether the last line is incomplete, for example after a full disk.
static bool is_torn(int fd)
{
	struct stat st;
	char last = '\n';
	return fstat(fd, &st) == 0 && st.st_size && pread(fd, &last, 1, st.st_size - 1) == 1 && last != '\n';
}

// One write, so that processes do not mix their lines.
static int append_name(const struct owned_names *o, const char *project, struct err *e)
{
	char when[CLOCK_TEXT];
	clock_write(clock_wall_seconds(), when);
	CLEANUP(mem_close) int fd = safefile_open(o->path, O_RDWR | O_CREAT | O_APPEND, e);
	if (fd < 0)
		return -1;
	CLEANUP(mem_free) char *line = xasprintf("%s%s %s\n", is_torn(fd) ? "\n" : "", project, when);
	size_t len = strlen(line);
	if (write(fd, line, len) != (ssize_t)len || fsync(fd) < 0)
		return err_errno(e, fs_kind_of_write(), "%s", o->path);
	return 0;
}

int owned_names_add(struct owned_names *o, const char *project, struct err *e)
{
	int added = 0;
	pthread_mutex_lock(&o->lock);
	reload_if_changed(o, "");
	if (!list_has(&o->list, project) && (added = append_name(o, project, e)) == 0)
		reload_if_changed(o, project);
	pthread_mutex_unlock(&o->lock);
	return added;
}

// --- the rules of the configuration ---

const char *const name_rule_text[NAME_RULE_COUNT] = {
	[NAME_RULE_MERGE] = "merge",
	[NAME_RULE_PRIVATE] = "private",
	[NAME_RULE_LOCAL] = "local-only",
	[NAME_RULE_UPSTREAM] = "upstream-only",
	[NAME_RULE_SHARED] = "shared",
};

// Normalises "Foo_Bar-*" like a project name; the special characters of a glob stay.
static char *normalized(const char *names)
{
	struct buf out;
	if (!names)
		return NULL;
	buf_init(&out, LIMIT_CONFIG);
	name_normalize(str_from(names), &out);
	return buf_steal(&out);
}

void name_rules_init(struct name_rules *r, const struct config *c)
{
	const char *const names[NAME_RULE_COUNT] = {
		[NAME_RULE_PRIVATE] = c->upstream_private,
		[NAME_RULE_LOCAL] = c->upstream_local_only,
		[NAME_RULE_UPSTREAM] = c->upstream_upstream_only,
		[NAME_RULE_SHARED] = c->upstream_shared,
	};
	for (int i = 0; i < NAME_RULE_COUNT; i++)
		r->names[i] = normalized(names[i]);
}

void name_rules_release(struct name_rules *r)
{
	for (int i = 0; i < NAME_RULE_COUNT; i++)
		free(r->names[i]);
	*r = (struct name_rules){0};
}

static bool has(const char *names, const char *project)
{
	struct str rest = str_from(names);
	while (rest.len) {
		char glob[LIMIT_FILE_NAME + 1];
		struct str one = str_cut(&rest, ' ');
		if (one.len >= sizeof(glob))
			continue;
		memcpy(glob, one.ptr, one.len);
		glob[one.len] = '\0';
		if (fnmatch(glob, project, 0) == 0)
			return true;
	}
	return false;
}

enum name_rule name_rules_find(const struct name_rules *r, const char *project)
{
	for (int i = 0; i < NAME_RULE_COUNT; i++)
		if (r->names[i] && has(r->names[i], project))
			return (enum name_rule)i;
	return NAME_RULE_MERGE;
}

bool name_rule_asks_upstream(enum name_rule rule)
{
	return rule != NAME_RULE_PRIVATE && rule != NAME_RULE_LOCAL;
}
