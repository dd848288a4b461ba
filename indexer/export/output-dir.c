// SPDX-License-Identifier: Apache-2.0
#include "indexer/export/output-dir.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/limits.h"
#include "lib/os/fs.h"

const char output_dir_tmp_name[] = ".wheelcache-tmp";

struct output_path output_path_of(const char *path)
{
	long slash = str_rfind(str_from(path), '/');
	if (slash < 0)
		return (struct output_path){xstrdup("."), path};
	return (struct output_path){xstrndup(path, (size_t)slash), path + slash + 1};
}

void output_path_release(struct output_path *p)
{
	free(p->folder);
}

void output_dir_init(struct output_dir *d, const char *root_path, int root)
{
	*d = (struct output_dir){.root_path = root_path, .root = root, .fd = -1};
}

void output_dir_release(struct output_dir *d)
{
	mem_close(&d->fd);
	free(d->path);
	d->path = NULL;
	d->is_changed = false;
}

// Prefixes the message with the path of the folder; returns -1.
static int prefix_folder(const struct output_dir *d, struct err *e)
{
	bool is_root = strcmp(d->path, ".") == 0;
	return err_prefix(e, "%s/%s%s", d->root_path, is_root ? "" : d->path, is_root ? "" : "/");
}

int output_dir_leave(struct output_dir *d, struct err *e)
{
	int result = d->is_changed && fs_sync_dir(d->fd, e) < 0 ? prefix_folder(d, e) : 0;
	output_dir_release(d);
	return result;
}

static int open_dir_beneath(int root, const char *path, bool make, struct err *e);

static int make_dir_beneath(int root, const char *path, struct err *e)
{
	CLEANUP(output_path_release) struct output_path at = output_path_of(path);
	CLEANUP(mem_close) int parent = open_dir_beneath(root, at.folder, true, e);
	if (parent < 0)
		return -1;
	if (mkdirat(parent, at.name, 0755) < 0)
		return err_errno(e, ERR_IO, "%s", path);
	return fs_sync_dir(parent, e);
}

// Opens or makes one component at a time from the root, so that no link leads out of it.
static int open_dir_beneath(int root, const char *path, bool make, struct err *e)
{
	struct err why = ERR_INIT;
	int fd = fs_open_beneath(root, path, O_RDONLY | O_DIRECTORY, &why);
	if (fd < 0 && why.kind == ERR_NOT_FOUND && make)
		return make_dir_beneath(root, path, e) < 0 ? -1 : open_dir_beneath(root, path, false, e);
	if (fd < 0)
		*e = why;
	return fd;
}

int output_dir_enter(struct output_dir *d, const char *path, bool make, struct err *e)
{
	if (d->path && strcmp(d->path, path) == 0)
		return 0;
	if (output_dir_leave(d, e) < 0)
		return -1;
	d->fd = open_dir_beneath(d->root, path, make, e);
	if (d->fd < 0)
		return err_prefix(e, "%s/", d->root_path);
	d->path = xstrdup(path);
	d->is_changed = unlinkat(d->fd, output_dir_tmp_name, 0) == 0;
	return 0;
}

static bool is_content(int fd, struct str bytes)
{
	char block[16384];
	ssize_t n;
	while ((n = read(fd, block, sizeof(block))) > 0) {
		if ((size_t)n > bytes.len || memcmp(block, bytes.ptr, (size_t)n) != 0)
			return false;
		bytes = str_slice(bytes, (size_t)n, bytes.len);
	}
	return n == 0 && !bytes.len;
}

bool output_dir_has_file(const struct output_dir *d, const char *name, const struct str *bytes)
{
	struct stat st;
	if (fstatat(d->fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISREG(st.st_mode))
		return false;
	if (!bytes || (size_t)st.st_size != bytes->len)
		return !bytes && st.st_size > 0;
	CLEANUP(mem_close) int fd = openat(d->fd, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	return fd >= 0 && is_content(fd, *bytes);
}

bool output_dir_has_link(const struct output_dir *d, const char *name, const char *target)
{
	char found[LIMIT_PATH + 1];
	ssize_t n = readlinkat(d->fd, name, found, sizeof(found));
	return n >= 0 && str_eq((struct str){found, (size_t)n}, str_from(target));
}

bool output_dir_is_before(struct timespec a, struct timespec b)
{
	return a.tv_sec != b.tv_sec ? a.tv_sec < b.tv_sec : a.tv_nsec < b.tv_nsec;
}

// Whether a form that is there has this size, and an mtime in this second.
static bool is_second_taken(int dirfd, const char *name, off_t size, time_t second)
{
	struct stat other;
	return fstatat(dirfd, name, &other, AT_SYMLINK_NOFOLLOW) == 0 && other.st_mtim.tv_sec == second &&
	       other.st_size == size;
}

static struct timespec choose_mtime(const struct output_dir *d, const struct fs_tmp *tmp,
	const struct output_forms *forms, const struct stat *st)
{
	struct stat before;
	struct timespec t = output_dir_is_before(st->st_mtim, d->floor) ? d->floor : st->st_mtim;
	if (fstatat(d->fd, tmp->name, &before, AT_SYMLINK_NOFOLLOW) == 0 && t.tv_sec <= before.st_mtim.tv_sec)
		t = (struct timespec){.tv_sec = before.st_mtim.tv_sec + 1};
	for (size_t i = 0; forms && i < forms->count; i++)
		if (is_second_taken(d->fd, forms->name[i], st->st_size, t.tv_sec)) {
			t = (struct timespec){.tv_sec = t.tv_sec + 1};
			i = (size_t)-1; // each form takes one second at most, so this ends
		}
	return t;
}

static void set_mtime(struct output_dir *d, const struct fs_tmp *tmp, const struct output_forms *forms)
{
	struct stat st;
	if (fstat(tmp->fd, &st) < 0)
		return;
	struct timespec t = choose_mtime(d, tmp, forms, &st);
	const struct timespec times[] = {{.tv_nsec = UTIME_OMIT}, t};
	if (output_dir_is_before(st.st_mtim, t) && futimens(tmp->fd, times) < 0)
		return;
	if (output_dir_is_before(d->newest, t))
		d->newest = t;
}

int output_dir_put_file(struct output_dir *d, const char *name, const struct output_forms *forms, struct str bytes,
	struct err *e)
{
	CLEANUP(fs_tmp_release) struct fs_tmp tmp;
	d->is_changed = true;
	if (fs_tmp_open(&tmp, d->fd, output_dir_tmp_name, name, e) < 0 || fs_tmp_write(&tmp, bytes, e) < 0)
		return prefix_folder(d, e);
	set_mtime(d, &tmp, forms);
	return fs_tmp_publish(&tmp, e) < 0 ? prefix_folder(d, e) : 0;
}

int output_dir_put_link(struct output_dir *d, const char *name, const char *target, struct err *e)
{
	d->is_changed = true;
	if (symlinkat(target, d->fd, output_dir_tmp_name) == 0 &&
		renameat(d->fd, output_dir_tmp_name, d->fd, name) == 0)
		return 0;
	err_errno(e, ERR_IO, "%s", name);
	return prefix_folder(d, e);
}

int output_dir_remove(struct output_dir *d, const char *name, struct err *e)
{
	if (unlinkat(d->fd, name, 0) == 0) {
		d->is_changed = true;
		return 1;
	}
	if (errno == ENOENT)
		return 0;
	err_errno(e, ERR_IO, "%s", name);
	return prefix_folder(d, e);
}

int output_dir_remove_empty(struct output_dir *d, struct err *e)
{
	CLEANUP(mem_free) char *path = xstrdup(d->path);
	if (output_dir_leave(d, e) < 0)
		return -1;
	while (strcmp(path, ".") != 0) {
		CLEANUP(output_path_release) struct output_path at = output_path_of(path);
		struct err gone = ERR_INIT;
		CLEANUP(mem_close) int parent = open_dir_beneath(d->root, at.folder, false, &gone);
		if (parent < 0 || unlinkat(parent, at.name, AT_REMOVEDIR) < 0)
			return 0;
		free(path);
		path = STEAL_PTR(at.folder);
	}
	return 0;
}
