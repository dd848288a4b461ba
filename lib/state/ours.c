// SPDX-License-Identifier: Apache-2.0
#include "lib/state/ours.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/clock.h"
#include "lib/base/fs.h"
#include "lib/base/limits.h"
#include "lib/base/log.h"
#include "lib/domain/name.h"

struct ours {
	char *path;
	pthread_mutex_t lock;
	struct stat seen; // of the file as it was read; st_ino 0: there was none
	char *text;
	const char **project; // sorted; in text
	size_t count, room;
};

char *ours_path(const char *catalog_path)
{
	return xasprintf("%s.ours", catalog_path);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

// Takes the text over.
static void index_text(struct ours *o, char *text)
{
	free(o->text);
	o->text = text;
	o->count = 0;
	for (char *line = text, *end; *line; line = end) {
		end = line + strcspn(line, "\n");
		bool is_last = !*end;
		*end = '\0';
		line[strcspn(line, " \t\r")] = '\0';
		if (name_is_valid(str_from(line)) && name_is_normal(str_from(line))) {
			GROW(o->project, o->count, o->room);
			o->project[o->count++] = line;
		}
		end += !is_last;
	}
	if (o->count)
		qsort(o->project, o->count, sizeof(*o->project), by_name);
}

static bool is_same(const struct stat *a, const struct stat *b)
{
	return a->st_ino == b->st_ino && a->st_dev == b->st_dev && a->st_size == b->st_size && fs_mtime_ns(a) == fs_mtime_ns(b);
}

// Under the lock.
static int renew(struct ours *o, struct err *e)
{
	struct stat now = {0};
	CLEANUP(buf_release) struct buf text;
	buf_init(&text, LIMIT_OURS);
	if (stat(o->path, &now) < 0 && errno != ENOENT)
		return err_errno(e, ERR_IO, "%s", o->path);
	if (is_same(&now, &o->seen) && o->text)
		return 0;
	if (now.st_ino && fs_read_file(o->path, &text, e) < 0)
		return -1;
	buf_putc(&text, '\0');
	index_text(o, buf_steal(&text));
	o->seen = now;
	return 0;
}

int ours_open(const char *path, struct ours **out, struct err *e)
{
	CLEANUP(ours_cleanup) struct ours *o = xcalloc(1, sizeof(*o));
	o->path = xstrdup(path);
	pthread_mutex_init(&o->lock, NULL);
	if (renew(o, e) < 0)
		return -1;
	*out = STEAL_PTR(o);
	return 0;
}

void ours_close(struct ours *o)
{
	if (!o)
		return;
	pthread_mutex_destroy(&o->lock);
	free(o->project);
	free(o->text);
	free(o->path);
	free(o);
}

void ours_cleanup(struct ours **o)
{
	ours_close(*o);
}

// Under the lock.
static bool has(struct ours *o, const char *project)
{
	struct err e = ERR_INIT;
	if (renew(o, &e) < 0)
		log_error("which projects are ours: %s", e.msg);
	return o->count && bsearch(&project, o->project, o->count, sizeof(*o->project), by_name);
}

bool ours_has(struct ours *o, const char *project)
{
	pthread_mutex_lock(&o->lock);
	bool is_there = has(o, project);
	pthread_mutex_unlock(&o->lock);
	return is_there;
}

// A full disk may have cut the last line.
static bool is_torn(int fd)
{
	struct stat st;
	char last = '\n';
	return fstat(fd, &st) == 0 && st.st_size && pread(fd, &last, 1, st.st_size - 1) == 1 && last != '\n';
}

// One write, so that processes do not mix their lines.
static int append(const struct ours *o, const char *project, struct err *e)
{
	char when[CLOCK_TEXT];
	clock_write(clock_wall_seconds(), when);
	CLEANUP(mem_close) int fd = open(o->path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
	if (fd < 0)
		return err_errno(e, fs_kind_of_write(), "%s", o->path);
	CLEANUP(mem_free) char *line = xasprintf("%s%s %s\n", is_torn(fd) ? "\n" : "", project, when);
	size_t len = strlen(line);
	if (write(fd, line, len) != (ssize_t)len || fsync(fd) < 0)
		return err_errno(e, fs_kind_of_write(), "%s", o->path);
	return 0;
}

int ours_add(struct ours *o, const char *project, struct err *e)
{
	pthread_mutex_lock(&o->lock);
	int added = has(o, project) ? 0 : append(o, project, e);
	pthread_mutex_unlock(&o->lock);
	return added;
}
