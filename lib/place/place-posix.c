// SPDX-License-Identifier: Apache-2.0
#include "lib/place/place-posix.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "lib/base/blob.h"
#include "lib/base/log.h"
#include "lib/os/clock.h"
#include "lib/os/fs.h"
#include "lib/os/path-probe.h"
#include "lib/os/safefile.h"
#include "lib/place/folder-watch.h"
#include "lib/place/place-ops.h"
#include "lib/place/tempname.h"

enum {
	LOCK_POLL_MS = 20,
	EXPECT_MS = 3000, // for the lock of a folder, which is held for a moment
	AS_FILE = O_RDONLY | O_NONBLOCK | O_NOCTTY,
	AS_FOLDER = O_RDONLY | O_DIRECTORY,
};

static const char lock_name[] = ".wheelcache-lock";

struct posix_place {
	struct place base;
	char *root;
	const char *below; // of path: below root; "." is root itself
	bool is_ours, is_secret;
	mode_t mode, folder_mode; // of what is made
};

struct posix_folder {
	struct place_folder base;
	int fd;
	char *path; // below the place
};

struct posix_file {
	struct place_file base;
	int fd;
};

struct posix_write {
	struct place_write base;
	const struct place *place;
	struct fs_tmp tmp;
	char tmp_name[TEMPNAME_NAME];
	char *name;
	struct posix_file file; // borrows the descriptor of tmp
};

struct posix_lock {
	struct place_lock base;
	int fd;
};

static const struct place_ops posix_ops;

static const struct posix_place *place_of(const struct place *p)
{
	return (const struct posix_place *)p;
}

static int fd_of(const struct place_folder *f)
{
	return ((const struct posix_folder *)f)->fd;
}

static bool is_ours(const struct place_folder *f)
{
	return place_of(f->place)->is_ours;
}

static bool is_secret(const struct place *p)
{
	return place_of(p)->is_secret;
}

// A file that takes the place of another one may get its inode, and have its size and time: their ctimes differ. Where
// the ctime is the time, as on AFS, it says nothing.
static uint64_t id_of_file(const struct stat *st)
{
	const uint64_t odd = 0x9e3779b97f4a7c15; // spreads the bits
	uint64_t changed = (uint64_t)st->st_ctim.tv_sec * 1000000000 + (uint64_t)st->st_ctim.tv_nsec;
	bool is_time = st->st_ctim.tv_sec == st->st_mtim.tv_sec && st->st_ctim.tv_nsec == st->st_mtim.tv_nsec;
	return is_time ? st->st_ino : (st->st_ino ^ changed * odd) >> 1;
}

static void fill_info(const struct stat *st, struct place_info *out)
{
	*out = (struct place_info){
		.kind = S_ISREG(st->st_mode)   ? PLACE_FILE
			: S_ISDIR(st->st_mode) ? PLACE_FOLDER
			: S_ISLNK(st->st_mode) ? PLACE_LINK
					       : PLACE_ODD,
		.version = {(uint64_t)st->st_size, fs_mtime_ns(st), S_ISREG(st->st_mode) ? id_of_file(st) : st->st_ino},
		.device = st->st_dev,
	};
}

static int stat_fd(int fd, struct place_info *out, struct err *e)
{
	struct stat st;
	if (fstat(fd, &st) < 0)
		return err_errno(e, ERR_IO, "fstat");
	fill_info(&st, out);
	return 0;
}

// --- the place ---

struct place *place_posix_new(const char *root, const char *path, enum place_posix_links links)
{
	struct posix_place *p = xcalloc(1, sizeof(*p));
	p->base = (struct place){&posix_ops, xstrdup(path)};
	p->root = xstrdup(root);
	p->below = p->base.path + strlen(root);
	p->below += strspn(p->below, "/"); // below the root "/" a path has two
	if (!*p->below)
		p->below = ".";
	p->is_ours = links != PLACE_POSIX_INSIDE;
	p->is_secret = links >= PLACE_POSIX_SECRET;
	p->mode = links == PLACE_POSIX_ALONE ? 0600 : links == PLACE_POSIX_SECRET ? SAFEFILE_MODE : 0644;
	p->folder_mode = p->is_secret ? SAFEFILE_FOLDER_MODE : 0755;
	return &p->base;
}

static void posix_free(struct place *p)
{
	free(((struct posix_place *)p)->root);
	free(p->path);
	free(p);
}

static bool posix_answers(const struct place *p, const char *below, int64_t until_ms, struct err *why)
{
	CLEANUP(mem_free) char *path = below ? xasprintf("%s/%s", p->path, below) : xstrdup(p->path);
	CLEANUP(mem_free) char *real = NULL;
	bool does = path_probe_wait(path_probe_start(path), until_ms, &real);
	if (!does)
		err_set(why, ERR_TIME, "it does not answer");
	return does;
}

// Durable, and of the owner of the folder that it is in.
static int make_ours(const struct place *p, int dirfd, const char *name, struct err *e)
{
	if (mkdirat(dirfd, name, place_of(p)->folder_mode) < 0)
		return errno == EEXIST ? 0 : err_errno(e, fs_kind_of_write(), "cannot make the folder %s", name);
	CLEANUP(mem_close) int fd = openat(dirfd, name, AS_FOLDER | O_NOFOLLOW | O_CLOEXEC);
	if (fd >= 0)
		fs_give_to_owner(fd, dirfd);
	return fs_sync_dir(dirfd, e) < 0 ? -1 : 1;
}

static int posix_make(const struct place *p, struct err *e)
{
	struct err missing = ERR_INIT;
	CLEANUP(mem_close) int there = fs_open_dir(p->path, &missing);
	if (there >= 0)
		return 0;
	if (missing.kind != ERR_NOT_FOUND) {
		*e = missing;
		return -1;
	}
	long slash = str_rfind(str_from(p->path), '/');
	CLEANUP(mem_free)
	char *parent = slash > 0 ? xstrndup(p->path, (size_t)slash) : xstrdup(slash == 0 ? "/" : ".");
	CLEANUP(mem_close) int above = -1;
	if (fs_make_dirs(parent, e) < 0 || (above = fs_open_dir(parent, e)) < 0)
		return -1;
	return make_ours(p, above, p->path + slash + 1, e) < 0 ? -1 : 0;
}

// --- opening ---

static int open_inside(const struct posix_place *p, const char *path, int flags, struct err *e)
{
	CLEANUP(mem_close) int root = open(p->root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root < 0)
		return err_errno(e, errno == ENOENT || errno == ENOTDIR ? ERR_NOT_FOUND : ERR_IO, "%s", p->root);
	if (!*path)
		return fs_open_beneath(root, p->below, flags, e);
	bool is_root = strcmp(p->below, ".") == 0;
	CLEANUP(mem_free) char *below = is_root ? NULL : xasprintf("%s/%s", p->below, path);
	return fs_open_beneath(root, below ? below : path, flags, e);
}

// Of our own places a link is followed only at the top, where the operator made it.
static int open_ours_at(int dirfd, const char *name, int flags, struct err *e)
{
	int fd = openat(dirfd, name, flags | O_NOFOLLOW | O_CLOEXEC);
	if (fd >= 0)
		return fd;
	bool is_folder = flags & O_DIRECTORY;
	if (errno == ELOOP || errno == (is_folder ? ENOTDIR : ENXIO))
		return is_folder ? err_errno(e, ERR_DENIED, "%s", name)
				 : err_set(e, ERR_DENIED, "it is no regular file");
	if (is_folder)
		return err_errno(e, errno == ENOENT ? ERR_NOT_FOUND : ERR_IO, "%s", name);
	return errno == ENOENT ? err_set(e, ERR_NOT_FOUND, "it is missing") : err_errno(e, ERR_IO, "it cannot be opened");
}

static int open_ours(const struct posix_place *p, const char *path, int flags, struct err *e)
{
	struct str rest = str_from(path);
	CLEANUP(mem_close) int here = fs_open_dir(p->base.path, e);
	while (here >= 0 && rest.len) {
		struct str part = str_cut(&rest, '/');
		CLEANUP(mem_free) char *name = xstrndup(part.ptr, part.len);
		int next = open_ours_at(here, name, rest.len ? AS_FOLDER : flags, e);
		mem_close(&here);
		here = next;
	}
	return mem_steal_fd(&here);
}

static int open_path(const struct place *p, const char *path, int flags, struct err *e)
{
	return place_of(p)->is_ours ? open_ours(place_of(p), path, flags, e) : open_inside(place_of(p), path, flags, e);
}

static int open_at(const struct place_folder *f, const char *name, int flags, struct err *e)
{
	return is_ours(f) ? open_ours_at(fd_of(f), name, flags, e) : fs_open_beneath(fd_of(f), name, flags, e);
}

static struct place_folder *new_folder(const struct place *p, const char *path, int fd)
{
	if (fd < 0)
		return NULL;
	struct posix_folder *f = xmalloc(sizeof(*f));
	*f = (struct posix_folder){.base = {.place = p}, .fd = fd, .path = xstrdup(path)};
	return &f->base;
}

struct place_folder *place_posix_folder(int fd, const char *path, enum place_posix_links links)
{
	struct place *p = fd < 0 ? NULL : place_posix_new(path, path, links);
	return p ? place_end_with(p, new_folder(p, "", fd)) : NULL;
}

struct place_file *place_posix_file(int fd)
{
	if (fd < 0)
		return NULL;
	struct posix_file *f = xmalloc(sizeof(*f));
	*f = (struct posix_file){.base = {&posix_ops}, .fd = fd};
	return &f->base;
}

static struct place_folder *posix_open_folder(const struct place *p, const char *path, struct err *e)
{
	return new_folder(p, path, open_path(p, path, AS_FOLDER, e));
}

static char *path_in(const struct place_folder *f, const char *name)
{
	const char *path = ((const struct posix_folder *)f)->path;
	return *path ? xasprintf("%s/%s", path, name) : xstrdup(name);
}

static struct place_folder *posix_enter(struct place_folder *f, const char *name, struct err *e)
{
	CLEANUP(mem_free) char *path = path_in(f, name);
	return new_folder(f->place, path, open_at(f, name, AS_FOLDER, e));
}

static struct place_file *posix_open(const struct place *p, const char *path, struct err *e)
{
	return place_posix_file(open_path(p, path, AS_FILE, e));
}

static struct place_file *posix_open_in(struct place_folder *f, const char *name, struct err *e)
{
	return place_posix_file(open_at(f, name, AS_FILE, e));
}

// --- folders ---

static void posix_folder_close(struct place_folder *f)
{
	struct posix_folder *own = (struct posix_folder *)f;
	mem_close(&own->fd);
	free(own->path);
	free(own);
}

static int posix_folder_info(struct place_folder *f, struct place_info *out, struct err *e)
{
	return stat_fd(fd_of(f), out, e);
}

static int posix_make_folder(struct place_folder *f, const char *name, struct err *e)
{
	if (is_ours(f))
		return make_ours(f->place, fd_of(f), name, e);
	if (mkdirat(fd_of(f), name, 0755) < 0)
		return errno == EEXIST ? 0 : err_errno(e, fs_kind_of_write(), "%s", name);
	return fs_sync_dir(fd_of(f), e) < 0 ? -1 : 1;
}

static int posix_remove_folder(struct place_folder *f, const char *name, struct err *e)
{
	return unlinkat(fd_of(f), name, AT_REMOVEDIR) < 0 ? err_errno(e, ERR_IO, "%s", name) : 0;
}

static enum place_kind kind_of_entry(const struct dirent *entry)
{
	switch (entry->d_type) {
	case DT_REG:
		return PLACE_FILE;
	case DT_DIR:
		return PLACE_FOLDER;
	case DT_LNK:
		return PLACE_LINK;
	default:
		return PLACE_UNKNOWN;
	}
}

static int posix_list(struct place_folder *f, place_list_fn *fn, void *ctx, struct err *e)
{
	int fd = openat(fd_of(f), ".", AS_FOLDER | O_CLOEXEC);
	CLEANUP(fs_close_dir) DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	if (!dir) {
		mem_close(&fd);
		return err_errno(e, ERR_IO, "cannot list it");
	}
	for (struct dirent *entry; errno = 0, (entry = readdir(dir)) != NULL;) {
		bool is_hidden = place_hides(entry->d_name);
		if (is_hidden && !tempname_is(entry->d_name))
			continue;
		int result = fn(ctx, entry->d_name, is_hidden ? PLACE_LEFTOVER : kind_of_entry(entry), e);
		if (result != 0)
			return result;
	}
	return errno ? err_errno(e, ERR_IO, "cannot list it") : 0;
}

static int posix_stat(struct place_folder *f, const char *name, struct place_info *out, struct err *e)
{
	struct stat st;
	if (fstatat(fd_of(f), name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : err_errno(e, ERR_IO, "cannot look at it");
	fill_info(&st, out);
	return 1;
}

static int posix_follow(struct place_folder *f, const char *name, struct place_info *out, struct err *e)
{
	CLEANUP(mem_free) char *path = path_in(f, name);
	CLEANUP(mem_close) int fd = open_path(f->place, path, AS_FILE, e);
	return fd < 0 ? -1 : stat_fd(fd, out, e);
}

static void posix_link_text(struct place_folder *f, const char *name, struct buf *out)
{
	char text[4096];
	ssize_t len = readlinkat(fd_of(f), name, text, sizeof(text));
	buf_add(out, text, len > 0 ? (size_t)len : 0);
}

static int wait_for_lock(const struct place *p, int folder, int how, unsigned wait_ms, struct place_lock **out, struct err *e);

// Whether the file of this name is the expected one, and stays it as long as the lock is held.
static int lock_expected(const struct place *p, int folder, const char *name, const struct place_version *expected,
	struct place_lock **lock, struct err *e)
{
	struct stat st;
	struct place_info now;
	if (!expected)
		return 0;
	if (wait_for_lock(p, folder, LOCK_EX, EXPECT_MS, lock, e) < 0)
		return -1;
	bool is_there = fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) == 0;
	if (!is_there && errno != ENOENT)
		return err_errno(e, ERR_IO, "%s", name);
	if (is_there)
		fill_info(&st, &now);
	return place_is_expected(is_there ? &now : NULL, expected) ? 0 : err_set(e, ERR_CONFLICT, "%s has changed", name);
}

static int posix_remove(struct place_folder *f, const char *name, const struct place_version *expected, struct err *e)
{
	CLEANUP(place_unlock) struct place_lock *lock = NULL;
	if (lock_expected(f->place, fd_of(f), name, expected, &lock, e) < 0)
		return -1;
	if (unlinkat(fd_of(f), name, 0) == 0)
		return 1;
	return errno == ENOENT ? 0 : err_errno(e, ERR_IO, "%s", name);
}

static int posix_sync(struct place_folder *f, struct err *e)
{
	return fs_sync_dir(fd_of(f), e);
}

static bool posix_sweep(struct place_folder *f, const char *name)
{
	return tempname_sweep(fd_of(f), name);
}

static enum place_watched posix_watch(struct place_folder *f, struct folder_watch *w, const char *as, const char **silent)
{
	static const enum place_watched result[] = {[FOLDER_IS_WATCHED] = PLACE_IS_WATCHED,
		[FOLDER_WATCH_IS_FULL] = PLACE_WATCH_IS_FULL,
		[FOLDER_WATCH_FAILED] = PLACE_WATCH_FAILED};
	*silent = silent_fs_name(fd_of(f));
	return *silent ? PLACE_IS_SILENT : result[folder_watch_add(w, as, fd_of(f))];
}

static int posix_room(const struct place *p, uint64_t *bytes, struct err *e)
{
	struct statvfs disk;
	CLEANUP(mem_close) int fd = open_path(p, "", AS_FOLDER, e);
	if (fd < 0)
		return -1;
	if (fstatvfs(fd, &disk) < 0 || !disk.f_blocks || // the file system does not report free space
		__builtin_mul_overflow((uint64_t)disk.f_bavail, (uint64_t)disk.f_frsize, bytes))
		*bytes = UINT64_MAX;
	return 0;
}

// --- files ---

static int fd_of_file(const struct place_file *f)
{
	return ((const struct posix_file *)f)->fd;
}

static void posix_file_close(struct place_file *f)
{
	mem_close(&((struct posix_file *)f)->fd);
	free(f);
}

static int posix_file_info(struct place_file *f, struct place_info *out, struct err *e)
{
	return stat_fd(fd_of_file(f), out, e);
}

static struct byte_source posix_file_source(struct place_file *f, uint64_t size)
{
	return byte_source_file(fd_of_file(f), size);
}

static void posix_file_read_ahead(struct place_file *f)
{
	posix_fadvise(fd_of_file(f), 0, 0, POSIX_FADV_SEQUENTIAL);
}

static int posix_file_read_at(struct place_file *f, uint64_t offset, void *out, size_t len, size_t *got, struct err *e)
{
	for (*got = 0; *got < len;) {
		ssize_t n = pread(fd_of_file(f), (char *)out + *got, len - *got, (off_t)(offset + *got));
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_errno(e, ERR_IO, "cannot read");
		if (n == 0)
			break;
		*got += (size_t)n;
	}
	return 0;
}

static struct blob *posix_file_blob(struct place_file *f, uint64_t size, struct err *e)
{
	struct blob *b = blob_map(fd_of_file(f), size, e);
	if (b)
		blob_prefetch(b);
	return b;
}

static int posix_file_sync(struct place_file *f, struct err *e)
{
	return fsync(fd_of_file(f)) < 0 ? err_errno(e, fs_kind_of_write(), "cannot sync it") : 0;
}

// --- writing ---

static struct place_write *posix_write_begin(struct place_folder *f, const char *name, struct err *e)
{
	struct posix_write *w = xcalloc(1, sizeof(*w));
	w->base.ops = &posix_ops;
	w->name = xstrdup(name);
	tempname_name(w->tmp_name);
	w->place = f->place;
	if (fs_tmp_open_mode(&w->tmp, fd_of(f), w->tmp_name, w->name, place_of(f->place)->mode, e) < 0) {
		free(w->name);
		free(w);
		return NULL;
	}
	if (is_ours(f))
		fs_give_to_owner(w->tmp.fd, fd_of(f));
	w->file = (struct posix_file){.base = {&posix_ops}, .fd = w->tmp.fd};
	return &w->base;
}

static int posix_write_add(struct place_write *w, struct str bytes, struct err *e)
{
	return fs_tmp_write(&((struct posix_write *)w)->tmp, bytes, e);
}

static int posix_write_sync(struct place_write *w, struct err *e)
{
	const struct posix_write *own = (struct posix_write *)w;
	return fsync(own->tmp.fd) < 0 ? err_errno(e, fs_kind_of_write(), "%s", own->name) : 0;
}

static int posix_write_time(struct place_write *w, int64_t time_ns, struct err *e)
{
	struct stat st;
	const struct posix_write *own = (struct posix_write *)w;
	const int64_t second = 1000000000, part = time_ns % second + (time_ns % second < 0 ? second : 0);
	const struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, {(time_t)((time_ns - part) / second), (long)part}};
	if (futimens(own->tmp.fd, times) < 0 || fstat(own->tmp.fd, &st) < 0)
		return err_errno(e, ERR_IO, "%s: cannot set its time", own->name);
	return st.st_mtim.tv_sec == times[1].tv_sec;
}

static struct place_file *posix_write_file(struct place_write *w)
{
	return &((struct posix_write *)w)->file.base;
}

// NFS may report that the name is taken although the link was made, because the answer to it was lost. So the file
// itself tells: another writer's file may have the same bytes.
static bool is_linked(const struct fs_tmp *t)
{
	struct stat ours, found;
	CLEANUP(mem_close) int fd = openat(t->dirfd, t->name, AS_FILE | O_NOFOLLOW | O_CLOEXEC);
	return fd >= 0 && fstat(fd, &found) == 0 && fstatat(t->dirfd, t->tmp, &ours, AT_SYMLINK_NOFOLLOW) == 0 &&
	       ours.st_dev == found.st_dev && ours.st_ino == found.st_ino;
}

static int posix_put_new(struct place_write *w, struct err *e)
{
	struct err taken = ERR_INIT;
	struct fs_tmp *t = &((struct posix_write *)w)->tmp;
	if (fs_tmp_link(t, &taken) < 0 && !(taken.kind == ERR_CONFLICT && is_linked(t))) {
		*e = taken;
		return -1;
	}
	fs_tmp_release(t);
	return 0;
}

static int posix_replace(struct place_write *w, const struct place_version *expected, struct err *e)
{
	struct fs_tmp *t = &((struct posix_write *)w)->tmp;
	CLEANUP(place_unlock) struct place_lock *lock = NULL;
	if (expected && posix_write_sync(w, e) < 0) // so that nobody waits for the disk
		return -1;
	return lock_expected(((struct posix_write *)w)->place, t->dirfd, t->name, expected, &lock, e) < 0 ? -1
													   : fs_tmp_publish(t, e);
}

static void posix_write_abandon(struct place_write *w)
{
	struct posix_write *own = (struct posix_write *)w;
	tempname_abandon(own->tmp_name);
	own->tmp.tmp = NULL;
}

static void posix_write_free(struct place_write *w)
{
	struct posix_write *own = (struct posix_write *)w;
	fs_tmp_release(&own->tmp);
	free(own->name);
	free(own);
}

// --- locks ---

// Creates the lock file. Accounts that can write to the folder can lock it; those that read a store, too.
static int make_lock(const struct place *p, int folder)
{
	struct stat st;
	int fd = openat(folder, lock_name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0 || fstat(folder, &st) < 0)
		return fd;
	if (fchown(fd, geteuid() == 0 ? st.st_uid : (uid_t)-1, st.st_gid) < 0)
		log_debug("the lock of %s is not its folder's group's: %s", p->path, strerror(errno));
	mode_t least = is_secret(p) ? 0600 : 0640;
	if (fchmod(fd, st.st_mode & S_IWOTH ? 0666 : st.st_mode & S_IWGRP ? 0660 : least) < 0)
		log_debug("the lock of %s is its maker's alone: %s", p->path, strerror(errno));
	return fd;
}

// The lock of a folder is local to the machine, and whoever may list the folder can hold it. So on a shared file system
// a file is locked, whose lock NFS and AFS send to their server, and of state, too. On NFS an exclusive lock needs a
// descriptor that is open for writing.
static int open_lock(const struct place *p, int folder)
{
	const int flags = O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
	if (!is_secret(p) && !silent_fs_shares_locks(folder))
		return openat(folder, ".", AS_FOLDER | O_CLOEXEC);
	int fd = openat(folder, lock_name, O_RDWR | flags);
	if (fd < 0 && (errno == EACCES || errno == EROFS))
		fd = openat(folder, lock_name, O_RDONLY | flags);
	if (fd < 0 && errno == ENOENT)
		fd = make_lock(p, folder);
	if (fd < 0 && errno == EEXIST)
		fd = openat(folder, lock_name, O_RDWR | flags);
	return fd;
}

static bool has_no_locks(void)
{
	return errno == ENOLCK || errno == ENOSYS || errno == EOPNOTSUPP || errno == EINVAL;
}

static bool is_still_named(int folder, int fd)
{
	struct stat named, held;
	if (fstat(fd, &held) < 0 || S_ISDIR(held.st_mode))
		return true;
	return fstatat(folder, lock_name, &named, AT_SYMLINK_NOFOLLOW) == 0 && named.st_ino == held.st_ino &&
	       named.st_dev == held.st_dev;
}

// 1: locked; 0: there are no locks; -1: ERR_BUSY: another one has it now.
static int try_lock(const struct place *p, int folder, int how, int *out, struct err *e)
{
	struct stat st;
	CLEANUP(mem_close) int fd = open_lock(p, folder);
	if (fd < 0 || fstat(fd, &st) < 0)
		return err_errno(e, ERR_IO, "its lock %s", lock_name);
	if (!S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode))
		return err_set(e, ERR_IO, "its lock %s is no regular file", lock_name);
	int locked = flock(fd, how | LOCK_NB);
	if (locked < 0 && has_no_locks())
		return 0;
	if (locked < 0 && errno != EWOULDBLOCK && errno != EINTR)
		return err_errno(e, ERR_IO, "its lock %s", lock_name);
	if (locked < 0 || !is_still_named(folder, fd))
		return err_set(e, ERR_BUSY, "another process holds the lock of %s%s%s", p->path,
			S_ISDIR(st.st_mode) ? "" : "/", S_ISDIR(st.st_mode) ? "" : lock_name);
	*out = mem_steal_fd(&fd);
	return 1;
}

static int wait_for_lock(const struct place *p, int folder, int how, unsigned wait_ms, struct place_lock **out, struct err *e)
{
	for (int64_t until = clock_ms() + wait_ms;; poll(NULL, 0, LOCK_POLL_MS)) {
		struct err busy = ERR_INIT;
		int fd = -1, locked = try_lock(p, folder, how, &fd, &busy);
		if (locked > 0) {
			struct posix_lock *lock = xmalloc(sizeof(*lock));
			*lock = (struct posix_lock){{&posix_ops}, fd};
			*out = &lock->base;
		}
		if (locked >= 0)
			return locked;
		if (busy.kind != ERR_BUSY || clock_ms() >= until) {
			*e = busy;
			return -1;
		}
	}
}

static int posix_lock(const struct place *p, bool is_shared, unsigned wait_ms, struct place_lock **out, struct err *e)
{
	CLEANUP(mem_close) int folder = open_path(p, "", AS_FOLDER, e);
	return folder < 0 ? -1 : wait_for_lock(p, folder, is_shared ? LOCK_SH : LOCK_EX, wait_ms, out, e);
}

static void posix_unlock(struct place_lock *lock)
{
	mem_close(&((struct posix_lock *)lock)->fd);
	free(lock);
}

static const struct place_ops posix_ops = {
	.free = posix_free,
	.answers = posix_answers,
	.make = posix_make,
	.room = posix_room,
	.lock = posix_lock,
	.unlock = posix_unlock,
	.open_folder = posix_open_folder,
	.enter = posix_enter,
	.make_folder = posix_make_folder,
	.remove_folder = posix_remove_folder,
	.folder_close = posix_folder_close,
	.folder_info = posix_folder_info,
	.list = posix_list,
	.stat = posix_stat,
	.follow = posix_follow,
	.link_text = posix_link_text,
	.remove = posix_remove,
	.sync = posix_sync,
	.sweep = posix_sweep,
	.watch = posix_watch,
	.open = posix_open,
	.open_in = posix_open_in,
	.file_close = posix_file_close,
	.file_info = posix_file_info,
	.file_source = posix_file_source,
	.file_read_ahead = posix_file_read_ahead,
	.file_read_at = posix_file_read_at,
	.file_blob = posix_file_blob,
	.file_sync = posix_file_sync,
	.write_begin = posix_write_begin,
	.write_add = posix_write_add,
	.write_sync = posix_write_sync,
	.write_time = posix_write_time,
	.write_file = posix_write_file,
	.put_new = posix_put_new,
	.replace = posix_replace,
	.write_abandon = posix_write_abandon,
	.write_free = posix_write_free,
};
