// SPDX-License-Identifier: Apache-2.0
#include "lib/os/safefile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/counted.h"
#include "lib/os/fs.h"

enum {
	LINKS = 40, // symbolic links in one path; the kernel has the same limit
	LINK_TEXT = 4096,
	OPEN_TRIES = 10, // of a file that other processes create and remove
};

static enum err_kind kind_of_failure(void)
{
	return errno == ENOENT || errno == ENOTDIR ? ERR_NOT_FOUND : fs_kind_of_write();
}

// True if no other account can write the folder.
static bool is_ours_alone(const struct stat *folder)
{
	if (folder->st_mode & S_IWOTH || (folder->st_uid != 0 && folder->st_uid != geteuid()))
		return false;
	return geteuid() != 0 || !(folder->st_mode & S_IWGRP) || folder->st_gid == 0;
}

// True if no hostile account can have put the link there. In a sticky folder no other account can replace a link of
// root or ours (a mounted Kubernetes secret is such a folder of root, with links of root). A user other than root also
// trusts the links of the folder's owner, as the kernel does (proc(5), protected_symlinks), unless all may write the
// folder.
static bool is_trusted_link(const struct stat *folder, const struct stat *link)
{
	const uid_t self = geteuid();
	const bool is_sticky = folder->st_mode & S_ISVTX;
	if (is_ours_alone(folder))
		return true;
	if (!is_sticky && (self == 0 || folder->st_mode & S_IWOTH))
		return false;
	if (self == 0 && folder->st_uid != 0)
		return false;
	return link->st_uid == 0 || link->st_uid == self || (self != 0 && link->st_uid == folder->st_uid);
}

// --- the path ---

struct path_walk {
	const char *path; // as the caller gave it
	bool make;
	int here;       // the folder that the walk has reached
	unsigned links; // followed so far
	char *rest;     // the part of the path below it
};

static void path_walk_release(struct path_walk *w)
{
	mem_close(&w->here);
	free(w->rest);
}

static int path_walk_init(struct path_walk *w, const char *path, struct err *e)
{
	w->rest = xstrdup(path);
	w->here = open(*path == '/' ? "/" : ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	return w->here < 0 ? err_errno(e, ERR_IO, "%s", path) : 0;
}

// Takes the next component off the rest; the caller frees it. *is_last: it is the last one. NULL at the end of the
// path.
static char *next_part(struct path_walk *w, bool *is_last)
{
	const char *part = w->rest + strspn(w->rest, "/");
	size_t len = strcspn(part, "/");
	if (!len)
		return NULL;
	const char *behind = part + len + strspn(part + len, "/");
	char *name = xstrndup(part, len);
	*is_last = !*behind;
	char *rest = xstrdup(behind);
	free(w->rest);
	w->rest = rest;
	return name;
}

// Puts the link's target in front of the rest.
static int follow_link(struct path_walk *w, const char *name, struct err *e)
{
	struct stat folder, link;
	char text[LINK_TEXT];
	CLEANUP(mem_close) int fd = openat(w->here, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &link) < 0 || fstat(w->here, &folder) < 0)
		return err_errno(e, ERR_IO, "%s", w->path);
	if (!is_trusted_link(&folder, &link))
		return err_set(e, ERR_IO,
			"%s: %s is a symbolic link that another account may have put there: it is not followed",
			w->path, name);
	ssize_t len = readlinkat(fd, "", text, sizeof(text) - 1);
	if (len < 0 || ++w->links > LINKS) {
		errno = len < 0 ? errno : ELOOP;
		return err_errno(e, ERR_IO, "%s", w->path);
	}
	text[len] = '\0';
	char *rest = xasprintf("%s/%s", text, w->rest);
	free(w->rest);
	w->rest = rest;
	if (*text != '/')
		return 0;
	mem_close(&w->here);
	w->here = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	return w->here < 0 ? err_errno(e, ERR_IO, "%s", w->path) : 0;
}

static bool is_link(int folder, const char *name)
{
	struct stat st;
	return fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(st.st_mode);
}

static int enter_folder(struct path_walk *w, const char *name, mode_t mode, struct err *e)
{
	const int flags = O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
	int next = openat(w->here, name, flags);
	if (next < 0 && errno == ENOENT && w->make) {
		bool made = mkdirat(w->here, name, mode) == 0;
		if (!made && errno != EEXIST)
			return err_errno(e, fs_kind_of_write(), "%s: cannot make the folder %s", w->path, name);
		next = openat(w->here, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (next >= 0 && made)
			fs_give_to_owner(next, w->here);
	}
	if (next < 0)
		return err_errno(e, kind_of_failure(), "%s", w->path);
	mem_close(&w->here);
	w->here = next;
	return 0;
}

// Walks to the folder of the last component, which becomes *name. With name NULL it enters the last one too.
static int walk_path(struct path_walk *w, char **name, struct err *e)
{
	bool is_last;
	char *next;
	while ((next = next_part(w, &is_last)) != NULL) {
		CLEANUP(mem_free) char *part = next;
		if (is_link(w->here, part)) {
			if (follow_link(w, part, e) < 0)
				return -1;
			continue;
		}
		if (is_last && name) {
			*name = STEAL_PTR(part);
			return 0;
		}
		if (enter_folder(w, part, is_last ? SAFEFILE_FOLDER_MODE : 0755, e) < 0)
			return -1;
	}
	return name ? err_set(e, ERR_IO, "%s: it names no file", w->path) : 0;
}

int safefile_parent(const char *path, bool make, char **name, struct err *e)
{
	CLEANUP(mem_free) char *last = NULL;
	CLEANUP(path_walk_release) struct path_walk w = {.path = path, .make = make, .here = -1};
	if (path_walk_init(&w, path, e) < 0 || walk_path(&w, &last, e) < 0)
		return -1;
	if (name)
		*name = STEAL_PTR(last);
	int fd = openat(w.here, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? mem_steal_fd(&w.here) : fd;
}

int safefile_folder(const char *path, bool make, struct err *e)
{
	CLEANUP(path_walk_release) struct path_walk w = {.path = path, .make = make, .here = -1};
	if (path_walk_init(&w, path, e) < 0 || walk_path(&w, NULL, e) < 0)
		return -1;
	int fd = openat(w.here, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? err_errno(e, kind_of_failure(), "%s", path) : fd;
}

// --- the file ---

static bool is_expected_owner(const struct stat *st, const struct stat *folder)
{
	if (geteuid() != 0 || st->st_uid == 0 || st->st_uid == folder->st_uid)
		return true;
	return folder->st_mode & S_IWGRP && !(folder->st_mode & S_IWOTH);
}

static int check_file(const struct stat *st, int folder, const char *path, struct err *e)
{
	struct stat parent;
	if (fstat(folder, &parent) < 0)
		return err_errno(e, ERR_IO, "%s", path);
	if (S_ISLNK(st->st_mode))
		return err_set(e, ERR_IO, "%s: it is a symbolic link, which is not followed here", path);
	if (!S_ISREG(st->st_mode))
		return err_set(e, ERR_IO, "%s: it is no regular file", path);
	if (st->st_nlink > 1)
		return err_set(e, ERR_IO, "%s: it has %s (hard links): it may be another file as well", path,
			COUNTED(st->st_nlink, "name|names"));
	if (!is_expected_owner(st, &parent))
		return err_set(e, ERR_IO,
			"%s: it belongs to user %ju, neither to root nor to its folder's owner, user %ju", path,
			(uintmax_t)st->st_uid, (uintmax_t)parent.st_uid);
	return 0;
}

// Returns -1 with errno. Other processes may create and remove the file meanwhile.
static int open_or_make(int folder, const char *name, int flags, mode_t mode, bool *made)
{
	const int how = (flags & ~(O_CREAT | O_EXCL | O_TRUNC)) | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
	*made = false;
	for (int tries = 0;; tries++) {
		int fd = flags & O_EXCL ? -1 : openat(folder, name, how);
		if (fd >= 0 || !(flags & O_CREAT) || (!(flags & O_EXCL) && errno != ENOENT))
			return fd;
		fd = openat(folder, name, how | O_CREAT | O_EXCL, mode);
		*made = fd >= 0;
		if (fd >= 0 || errno != EEXIST || flags & O_EXCL || tries == OPEN_TRIES)
			return fd;
	}
}

static int open_checked(int folder, const char *name, const char *path, int flags, mode_t mode, bool *made,
	struct err *e)
{
	struct stat st;
	CLEANUP(mem_close) int fd = open_or_make(folder, name, flags, mode, made);
	if (fd < 0) {
		int reason = errno;
		if (reason != ENOENT && fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
			check_file(&st, folder, path, e) < 0)
			return -1;
		errno = reason;
		return err_errno(e, kind_of_failure(), "%s", path);
	}
	if (fstat(fd, &st) < 0)
		return err_errno(e, ERR_IO, "%s", path);
	if (!*made && check_file(&st, folder, path, e) < 0)
		return -1;
	if (*made)
		fs_give_to_owner(fd, folder);
	if (flags & O_TRUNC && ftruncate(fd, 0) < 0)
		return err_errno(e, fs_kind_of_write(), "%s", path);
	return mem_steal_fd(&fd);
}

int safefile_open_at(int folder, const char *name, int flags, mode_t mode, bool *made, struct err *e)
{
	bool is_new;
	return open_checked(folder, name, name, flags, mode, made ? made : &is_new, e);
}

int safefile_open(const char *path, int flags, struct err *e)
{
	bool made;
	CLEANUP(mem_free) char *name = NULL;
	CLEANUP(mem_close) int folder = safefile_parent(path, flags & O_CREAT, &name, e);
	return folder < 0 ? -1 : open_checked(folder, name, path, flags, SAFEFILE_MODE, &made, e);
}

// Gives away only an empty regular file with one name: an account that may write the folder can have put another file
// of root's there meanwhile.
static void give_new_file(int folder, const char *name)
{
	struct stat st;
	CLEANUP(mem_close) int fd = openat(folder, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_nlink == 1 && st.st_size == 0)
		fs_give_to_owner(fd, folder);
}

int safefile_make_at(int folder, const char *name)
{
	if (mknodat(folder, name, S_IFREG | SAFEFILE_MODE, 0) < 0)
		return errno == EEXIST ? 0 : -1;
	give_new_file(folder, name);
	return 0;
}

int safefile_check_at(int folder, const char *name, struct err *e)
{
	struct stat st;
	if (fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : err_errno(e, ERR_IO, "%s", name);
	return check_file(&st, folder, name, e);
}

int safefile_read(const char *path, struct buf *b, struct err *e)
{
	CLEANUP(mem_close) int fd = safefile_open(path, O_RDONLY, e);
	return fd < 0 ? -1 : fs_read_fd(fd, path, b, e);
}

// --- locks ---

int safefile_lock(const char *path, bool wait, const char *owner, struct err *e)
{
	CLEANUP(mem_close) int fd = safefile_open(path, O_RDWR | O_CREAT, e);
	if (fd < 0)
		return err_prefix(e, "cannot make the lock ");
	while (flock(fd, wait ? LOCK_EX : LOCK_EX | LOCK_NB) < 0) {
		char holder[128];
		if (errno == EINTR)
			continue;
		if (errno != EWOULDBLOCK)
			return err_errno(e, ERR_IO, "cannot take the lock %s", path);
		// Reads the owner text of the process that holds the lock.
		size_t size = sizeof(holder);
		ssize_t n = pread(fd, holder, size - 1, 0);
		holder[n > 0 ? n : 0] = '\0';
		return err_set(e, ERR_BUSY, "%s", holder[0] ? holder : "another process");
	}
	if (ftruncate(fd, 0) < 0 || pwrite(fd, owner, strlen(owner), 0) < 0)
		return err_errno(e, ERR_IO, "cannot write the lock %s", path);
	return mem_steal_fd(&fd);
}
