// SPDX-License-Identifier: Apache-2.0
#include "lib/os/fs.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib/base/log.h"

#define RACY_NS ((int64_t)2000000000)

enum { OPEN_TRIES = 100 };

static enum err_kind kind_of_open(void)
{
	switch (errno) {
	case ENOENT:
	case ENOTDIR:
		return ERR_NOT_FOUND;
	case EXDEV:
	case ELOOP:
		return ERR_DENIED;
	default:
		return ERR_IO;
	}
}

enum err_kind fs_kind_of_write(void)
{
	return errno == ENOSPC || errno == EDQUOT || errno == EFBIG ? ERR_FULL : ERR_IO;
}

// For kernels without openat2() (before Linux 5.6) and containers that forbid it: opens one component after the other
// and follows no link.
static int open_by_components(int dirfd, const char *path, int flags)
{
	CLEANUP(mem_close) int here = fcntl(dirfd, F_DUPFD_CLOEXEC, 0);
	struct str rest = str_from(path);
	while (here >= 0 && rest.ptr) {
		struct str part = str_cut(&rest, '/');
		CLEANUP(mem_free) char *name = xstrndup(part.ptr, part.len);
		if (str_eq(part, STR("..")) || part.len == 0) {
			errno = EXDEV;
			return -1;
		}
		int how = rest.ptr ? O_PATH | O_DIRECTORY : flags;
		int next = openat(here, name, how | O_NOFOLLOW | O_CLOEXEC);
		mem_close(&here);
		here = next;
	}
	return mem_steal_fd(&here);
}

static int open_resolved(int dirfd, const char *path, int flags, unsigned long long resolve)
{
	struct open_how how = {
		.flags = (unsigned long long)(flags | O_CLOEXEC), .resolve = resolve | RESOLVE_NO_MAGICLINKS};
	int fd, tries = 0;
	do // EAGAIN: a folder on the path was renamed meanwhile, or the file has a lease
		fd = (int)syscall(SYS_openat2, dirfd, path, &how, sizeof(how));
	while (fd < 0 && (errno == EINTR || errno == EAGAIN) && ++tries < OPEN_TRIES);
	return fd;
}

int fs_open_beneath(int dirfd, const char *path, int flags, struct err *e)
{
	int fd = open_resolved(dirfd, path, flags, RESOLVE_BENEATH);
	if (fd < 0 && (errno == ENOSYS || errno == EPERM))
		fd = open_by_components(dirfd, path, flags);
	if (fd < 0)
		return err_errno(e, kind_of_open(), "%s", path);
	return fd;
}

int fs_open_in_root(int dirfd, const char *path, int flags, struct err *e)
{
	int fd = open_resolved(dirfd, path, flags, RESOLVE_IN_ROOT);
	return fd < 0 ? err_errno(e, kind_of_open(), "%s", path) : fd;
}

int fs_open_dir(const char *path, struct err *e)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? err_errno(e, kind_of_open(), "%s", path) : fd;
}

void fs_close_dir(DIR **dir)
{
	if (*dir)
		closedir(*dir);
	*dir = NULL;
}

int fs_is_empty(int dirfd, struct err *e)
{
	int fd = fcntl(dirfd, F_DUPFD_CLOEXEC, 0);
	CLEANUP(fs_close_dir) DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	if (!dir) {
		mem_close(&fd);
		return err_errno(e, ERR_IO, "cannot list the folder");
	}
	rewinddir(dir);
	for (struct dirent *entry; errno = 0, (entry = readdir(dir)) != NULL;)
		if (entry->d_name[0] != '.')
			return 0;
	return errno ? err_errno(e, ERR_IO, "cannot list the folder") : 1;
}

int fs_read_fd(int fd, const char *path, struct buf *b, struct err *e)
{
	struct stat st;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && (uint64_t)st.st_size > b->cap) // it is not read for that
		return err_set(e, ERR_LIMIT, "%s: larger than %zu bytes", path, b->cap);
	for (;;) {
		char block[16384];
		ssize_t n = read(fd, block, sizeof(block));
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_errno(e, ERR_IO, "%s", path);
		if (n == 0)
			return 0;
		buf_add(b, block, (size_t)n);
		if (b->failed)
			return err_set(e, ERR_LIMIT, "%s: larger than %zu bytes", path, b->cap);
	}
}

int fs_read_file(const char *path, struct buf *b, struct err *e)
{
	CLEANUP(mem_close) int fd = open(path, O_RDONLY | O_CLOEXEC);
	return fd < 0 ? err_errno(e, kind_of_open(), "%s", path) : fs_read_fd(fd, path, b, e);
}

int fs_read_regular(const char *path, struct buf *b, struct err *e)
{
	struct stat st;
	CLEANUP(mem_close) int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0)
		return err_errno(e, kind_of_open(), "%s", path);
	if (fstat(fd, &st) < 0)
		return err_errno(e, ERR_IO, "%s", path);
	return S_ISREG(st.st_mode) ? fs_read_fd(fd, path, b, e) : err_set(e, ERR_USAGE, "%s: no regular file", path);
}

int fs_tmp_open(struct fs_tmp *t, int dirfd, const char *tmp, const char *name, struct err *e)
{
	return fs_tmp_open_mode(t, dirfd, tmp, name, 0644, e);
}

int fs_tmp_open_mode(struct fs_tmp *t, int dirfd, const char *tmp, const char *name, mode_t mode, struct err *e)
{
	*t = (struct fs_tmp){.fd = -1, .dirfd = dirfd, .name = name};
	if (unlinkat(dirfd, tmp, 0) < 0 && errno != ENOENT)
		return err_errno(e, ERR_IO, "%s", tmp);
	t->fd = openat(dirfd, tmp, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode);
	if (t->fd < 0)
		return err_errno(e, fs_kind_of_write(), "%s", name);
	t->tmp = tmp;
	return 0;
}

int fs_tmp_open_nameless(struct fs_tmp *t, int dirfd, const char *name, struct err *e)
{
	*t = (struct fs_tmp){.fd = openat(dirfd, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600), .dirfd = dirfd, .name = name};
	return t->fd < 0 ? err_errno(e, fs_kind_of_write(), "%s", name) : 0;
}

int fs_tmp_write(struct fs_tmp *t, struct str bytes, struct err *e)
{
	while (bytes.len) {
		ssize_t n = write(t->fd, bytes.ptr, bytes.len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_errno(e, fs_kind_of_write(), "%s", t->name);
		bytes = str_slice(bytes, (size_t)n, bytes.len);
	}
	return 0;
}

// AFS and NFS may report a full disk only at fsync() or close().
static int sync_and_close(struct fs_tmp *t, struct err *e)
{
	if (fsync(t->fd) < 0 || close(mem_steal_fd(&t->fd)) < 0)
		return err_errno(e, fs_kind_of_write(), "%s", t->name);
	return 0;
}

int fs_tmp_publish(struct fs_tmp *t, struct err *e)
{
	if (sync_and_close(t, e) < 0)
		return -1;
	if (renameat(t->dirfd, t->tmp, t->dirfd, t->name) < 0)
		return err_errno(e, fs_kind_of_write(), "%s", t->name);
	t->tmp = NULL;
	return 0;
}

// A link, since rename() would replace an existing file.
int fs_tmp_link(struct fs_tmp *t, struct err *e)
{
	if (sync_and_close(t, e) < 0)
		return -1;
	if (linkat(t->dirfd, t->tmp, t->dirfd, t->name, 0) < 0)
		return err_errno(e, errno == EEXIST ? ERR_CONFLICT : fs_kind_of_write(), "%s", t->name);
	return 0;
}

void fs_tmp_release(struct fs_tmp *t)
{
	mem_close(&t->fd);
	if (t->tmp)
		unlinkat(t->dirfd, t->tmp, 0);
	t->tmp = NULL;
}

// A file system that cannot sync folders, such as AFS, returns EINVAL.
int fs_sync_dir(int dirfd, struct err *e)
{
	if (fsync(dirfd) < 0 && errno != EINVAL)
		return err_errno(e, ERR_IO, "cannot sync the folder");
	return 0;
}

void fs_give_to_owner(int fd, int dirfd)
{
	struct stat folder;
	if (geteuid() == 0 && fstat(dirfd, &folder) == 0 &&
		fchownat(fd, "", folder.st_uid, folder.st_gid, AT_EMPTY_PATH) < 0)
		log_debug("cannot give a new file to its folder's owner: %s", strerror(errno));
}

int fs_make_dirs(const char *path, struct err *e)
{
	CLEANUP(mem_free) char *part = xstrdup(path);
	for (char *at = part + 1; *at; at++) {
		if (*at != '/')
			continue;
		*at = '\0';
		if (mkdir(part, 0755) < 0 && errno != EEXIST)
			return err_errno(e, ERR_IO, "cannot make the folder %s", part);
		*at = '/';
	}
	if (mkdir(path, 0755) < 0 && errno != EEXIST)
		return err_errno(e, ERR_IO, "cannot make the folder %s", path);
	return 0;
}

int fs_make_parent(const char *path, struct err *e)
{
	long slash = str_rfind(str_from(path), '/');
	if (slash <= 0)
		return 0;
	CLEANUP(mem_free) char *parent = xstrndup(path, (size_t)slash);
	return fs_make_dirs(parent, e);
}

char *fs_real_path(const char *path, struct err *e)
{
	char *real = realpath(path, NULL);
	if (!real)
		err_errno(e, kind_of_open(), "%s", path);
	return real;
}

// Returns the length of the longest common beginning of both that consists of whole components.
static size_t common_length(const char *a, const char *b)
{
	size_t last = 0;
	for (size_t i = 0;; i++) {
		bool ends = (a[i] == '/' || !a[i]) && (b[i] == '/' || !b[i]);
		if (ends)
			last = i;
		if (a[i] != b[i] || !a[i])
			return last;
	}
}

const char *fs_path_as_told(const char *path, bool has_folders)
{
	const char *slash = has_folders ? NULL : strrchr(path, '/');
	return slash && slash[1] ? slash + 1 : path;
}

char *fs_relative_path(const char *folder, const char *path)
{
	size_t common = common_length(folder, path);
	if (common == 0)
		return xstrdup(path);
	struct buf out = buf_up_to(SIZE_MAX / 2);
	for (const char *at = folder + common; *at; at++)
		if (*at == '/')
			buf_puts(&out, "../");
	buf_puts(&out, path[common] ? path + common + 1 : ".");
	return buf_steal(&out);
}

int64_t fs_mtime_ns(const struct stat *st)
{
	const int64_t second = 1000000000;
	if (st->st_mtim.tv_sec >= INT64_MAX / second)
		return INT64_MAX; // in the year 2262 and later
	if (st->st_mtim.tv_sec <= INT64_MIN / second)
		return INT64_MIN;
	return (int64_t)st->st_mtim.tv_sec * second + st->st_mtim.tv_nsec;
}

bool fs_is_unchanged(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
	       fs_mtime_ns(a) == fs_mtime_ns(b) && a->st_ctim.tv_sec == b->st_ctim.tv_sec &&
	       a->st_ctim.tv_nsec == b->st_ctim.tv_nsec;
}

bool fs_mtime_is_reliable(int64_t mtime_ns, int64_t looked_at)
{
	return mtime_ns < looked_at - RACY_NS || mtime_ns > looked_at + RACY_NS;
}

// --- whole folders ---

enum {
	DEEPEST = 32,      // levels that are open at once; what is deeper is moved up
	NAME_OF_DEEP = 32, // bytes
	NAMES_TRIED = 1000,
};

struct tree_removal {
	int top;        // the open folder that is removed; what is deep is moved into it
	unsigned moved; // folders that were moved
	bool has_failed;
	struct err *e; // the first failure
};

static void note_stuck(struct tree_removal *r, const char *name)
{
	if (!r->has_failed)
		err_errno(r->e, ERR_IO, "cannot remove %s", name);
	r->has_failed = true;
}

// Opens the folder, which its mode must not prevent.
static int open_to_empty(int dirfd, const char *name)
{
	enum { FLAGS = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC };
	int fd = openat(dirfd, name, FLAGS);
	if (fd < 0 && errno == EACCES && fchmodat(dirfd, name, S_IRWXU, 0) == 0)
		fd = openat(dirfd, name, FLAGS);
	if (fd >= 0 && fchmod(fd, S_IRWXU) < 0)
		log_debug("%s: its mode cannot be changed: errno %d", name, errno);
	return fd;
}

// Moves a folder from far below to the top, which is listed again. A name there may be taken.
static void move_up(struct tree_removal *r, int dirfd, const char *name)
{
	char to[NAME_OF_DEEP];
	bool may_try = fchmodat(dirfd, name, S_IRWXU, 0) == 0; // its ".." changes
	for (unsigned try = 0; may_try && try < NAMES_TRIED; try++) {
		snprintf(to, sizeof(to), ".deep-%u", r->moved++);
		if (renameat(dirfd, name, r->top, to) == 0)
			return;
		may_try = errno == EEXIST || errno == ENOTEMPTY || errno == ENOTDIR;
	}
	note_stuck(r, name);
}

static void remove_tree_entry(struct tree_removal *r, int dirfd, const char *name, unsigned depth);

static void empty_folder(struct tree_removal *r, int fd, const char *path, unsigned depth)
{
	int listed = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	CLEANUP(fs_close_dir) DIR *dir = listed < 0 ? NULL : fdopendir(listed);
	if (!dir) {
		note_stuck(r, path);
		mem_close(&listed);
		return;
	}
	rewinddir(dir);
	for (struct dirent *entry; (entry = readdir(dir));)
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			remove_tree_entry(r, fd, entry->d_name, depth);
}

static void remove_tree_entry(struct tree_removal *r, int dirfd, const char *name, unsigned depth)
{
	if (unlinkat(dirfd, name, 0) == 0 || errno == ENOENT)
		return;
	if (errno != EISDIR && errno != EPERM) {
		note_stuck(r, name);
		return;
	}
	if (depth == DEEPEST) {
		move_up(r, dirfd, name);
		return;
	}
	CLEANUP(mem_close) int fd = open_to_empty(dirfd, name);
	if (fd >= 0)
		empty_folder(r, fd, name, depth + 1);
	if (unlinkat(dirfd, name, AT_REMOVEDIR) < 0)
		note_stuck(r, name);
}

int tree_remove(int dirfd, const char *name, struct err *e)
{
	struct tree_removal r = {.e = e};
	CLEANUP(mem_close) int top = open_to_empty(dirfd, name);
	if (top < 0 && errno == ENOENT)
		return 0;
	r.top = top;
	unsigned moved;
	do { // until nothing more was moved up
		moved = r.moved;
		if (top >= 0)
			empty_folder(&r, top, name, 1);
	} while (r.moved > moved && !r.has_failed);
	if (unlinkat(dirfd, name, top >= 0 ? AT_REMOVEDIR : 0) < 0)
		note_stuck(&r, name);
	return r.has_failed ? -1 : 0;
}
