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

const char output_dir_unready[] = ".wheelcache-tmp";

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

void output_dir_init(struct output_dir *f, const char *root_path, int root)
{
	*f = (struct output_dir){.root_path = root_path, .root = root, .fd = -1};
}

void output_dir_release(struct output_dir *f)
{
	mem_close(&f->fd);
	free(f->path);
	f->path = NULL;
	f->is_changed = false;
}

// Puts in front of the message where it was; returns -1.
static int blame(const struct output_dir *f, struct err *e)
{
	bool is_root = strcmp(f->path, ".") == 0;
	return err_prefix(e, "%s/%s%s", f->root_path, is_root ? "" : f->path, is_root ? "" : "/");
}

int output_dir_leave(struct output_dir *f, struct err *e)
{
	int result = f->is_changed && fs_sync_dir(f->fd, e) < 0 ? blame(f, e) : 0;
	output_dir_release(f);
	return result;
}

static int open_below(int root, const char *path, bool make, struct err *e);

static int make_below(int root, const char *path, struct err *e)
{
	CLEANUP(output_path_release) struct output_path at = output_path_of(path);
	CLEANUP(mem_close) int parent = open_below(root, at.folder, true, e);
	if (parent < 0)
		return -1;
	if (mkdirat(parent, at.name, 0755) < 0)
		return err_errno(e, ERR_IO, "%s", path);
	return fs_sync_dir(parent, e);
}

// Made step by step from the root, so that no link leads out.
static int open_below(int root, const char *path, bool make, struct err *e)
{
	struct err why = ERR_INIT;
	int fd = fs_open_beneath(root, path, O_RDONLY | O_DIRECTORY, &why);
	if (fd < 0 && why.kind == ERR_NOT_FOUND && make)
		return make_below(root, path, e) < 0 ? -1 : open_below(root, path, false, e);
	if (fd < 0)
		*e = why;
	return fd;
}

int output_dir_enter(struct output_dir *f, const char *path, bool make, struct err *e)
{
	if (f->path && strcmp(f->path, path) == 0)
		return 0;
	if (output_dir_leave(f, e) < 0)
		return -1;
	f->fd = open_below(f->root, path, make, e);
	if (f->fd < 0)
		return err_prefix(e, "%s/", f->root_path);
	f->path = xstrdup(path);
	f->is_changed = unlinkat(f->fd, output_dir_unready, 0) == 0;
	return 0;
}

static bool has_bytes(int fd, struct str bytes)
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

bool output_dir_has_file(const struct output_dir *f, const char *name, const struct str *bytes)
{
	struct stat st;
	if (fstatat(f->fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISREG(st.st_mode))
		return false;
	if (!bytes || (size_t)st.st_size != bytes->len)
		return !bytes && st.st_size > 0;
	CLEANUP(mem_close) int fd = openat(f->fd, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	return fd >= 0 && has_bytes(fd, *bytes);
}

bool output_dir_has_link(const struct output_dir *f, const char *name, const char *target)
{
	char found[LIMIT_PATH + 1];
	ssize_t n = readlinkat(f->fd, name, found, sizeof(found));
	return n >= 0 && str_eq((struct str){found, (size_t)n}, str_from(target));
}

// nginx makes the ETag of a file from its size and the second of its time. So what takes another's
// place within that one's second gets the next, where the file system lets us say so (not all of
// AFS's clients do).
static void keep_times_apart(int dirfd, const struct fs_tmp *tmp)
{
	struct stat before, now;
	if (fstatat(dirfd, tmp->name, &before, AT_SYMLINK_NOFOLLOW) < 0 || fstat(tmp->fd, &now) < 0 ||
		now.st_mtim.tv_sec > before.st_mtim.tv_sec)
		return;
	const struct timespec times[] = {{.tv_nsec = UTIME_OMIT}, {.tv_sec = before.st_mtim.tv_sec + 1}};
	futimens(tmp->fd, times);
}

int output_dir_put_file(struct output_dir *f, const char *name, struct str bytes, struct err *e)
{
	CLEANUP(fs_tmp_release) struct fs_tmp tmp;
	f->is_changed = true;
	if (fs_tmp_open(&tmp, f->fd, output_dir_unready, name, e) < 0 || fs_tmp_write(&tmp, bytes, e) < 0)
		return blame(f, e);
	keep_times_apart(f->fd, &tmp);
	return fs_tmp_publish(&tmp, e) < 0 ? blame(f, e) : 0;
}

int output_dir_put_link(struct output_dir *f, const char *name, const char *target, struct err *e)
{
	f->is_changed = true;
	if (symlinkat(target, f->fd, output_dir_unready) == 0 && renameat(f->fd, output_dir_unready, f->fd, name) == 0)
		return 0;
	err_errno(e, ERR_IO, "%s", name);
	return blame(f, e);
}

int output_dir_remove(struct output_dir *f, const char *name, struct err *e)
{
	if (unlinkat(f->fd, name, 0) == 0) {
		f->is_changed = true;
		return 1;
	}
	if (errno == ENOENT)
		return 0;
	err_errno(e, ERR_IO, "%s", name);
	return blame(f, e);
}

int output_dir_remove_empty(struct output_dir *f, struct err *e)
{
	CLEANUP(mem_free) char *path = xstrdup(f->path);
	if (output_dir_leave(f, e) < 0)
		return -1;
	while (strcmp(path, ".") != 0) {
		CLEANUP(output_path_release) struct output_path at = output_path_of(path);
		struct err gone = ERR_INIT;
		CLEANUP(mem_close) int parent = open_below(f->root, at.folder, false, &gone);
		if (parent < 0 || unlinkat(parent, at.name, AT_REMOVEDIR) < 0)
			return 0;
		free(path);
		path = STEAL_PTR(at.folder);
	}
	return 0;
}
