// SPDX-License-Identifier: Apache-2.0
#include "lib/state/views/views-file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/limits.h"
#include "lib/os/clock.h"
#include "lib/os/fs.h"
#include "lib/os/path-probe.h"
#include "lib/state/store/tempname.h"

enum { BLOCK_SIZE = 64 << 10 };

// --- folders ---

bool views_file_answers(const char *folder, unsigned ms)
{
	CLEANUP(mem_free) char *real = NULL;
	return path_probe_wait(path_probe_start(folder), clock_ms() + ms, &real);
}

static int open_part(int dirfd, const char *name)
{
	return openat(dirfd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

static int make_part(int dirfd, const char *name, struct err *e)
{
	if (mkdirat(dirfd, name, 0755) < 0)
		return errno == EEXIST ? 0 : err_errno(e, fs_kind_of_write(), "cannot make the folder %s", name);
	CLEANUP(mem_close) int fd = open_part(dirfd, name);
	if (fd >= 0)
		fs_give_to_owner(fd, dirfd);
	return fs_sync_dir(dirfd, e);
}

static int enter_part(int dirfd, const char *name, bool make, struct err *e)
{
	int fd = open_part(dirfd, name);
	if (fd < 0 && errno == ENOENT && make) {
		if (make_part(dirfd, name, e) < 0)
			return -1;
		fd = open_part(dirfd, name);
	}
	if (fd >= 0)
		return fd;
	enum err_kind kind = errno == ENOENT ? ERR_NOT_FOUND : errno == ELOOP || errno == ENOTDIR ? ERR_DENIED : ERR_IO;
	return err_errno(e, kind, "%s", name);
}

// The top folder may be a link, which the operator made.
static int enter_top(const char *folder, bool make, struct err *e)
{
	struct err missing = ERR_INIT;
	int fd = fs_open_dir(folder, &missing);
	if (fd >= 0 || !make || missing.kind != ERR_NOT_FOUND) {
		if (fd < 0)
			*e = missing;
		return fd;
	}
	long slash = str_rfind(str_from(folder), '/');
	CLEANUP(mem_free) char *parent = slash > 0 ? xstrndup(folder, (size_t)slash) : xstrdup(slash == 0 ? "/" : ".");
	CLEANUP(mem_close) int above = -1;
	if (fs_make_dirs(parent, e) < 0 || (above = fs_open_dir(parent, e)) < 0)
		return -1;
	return make_part(above, folder + slash + 1, e) < 0 ? -1 : fs_open_dir(folder, e);
}

int views_file_folder(const char *folder, const char *below, bool make, struct err *e)
{
	struct str rest = str_from(below);
	CLEANUP(mem_close) int fd = enter_top(folder, make, e);
	while (fd >= 0 && rest.len) {
		struct str part = str_cut(&rest, '/');
		CLEANUP(mem_free) char *name = xstrndup(part.ptr, part.len);
		int inner = enter_part(fd, name, make, e);
		mem_close(&fd);
		fd = inner;
	}
	return fd < 0 ? err_prefix(e, "%s/%s: ", folder, below) : mem_steal_fd(&fd);
}

// --- files ---

static int read_bytes(int fd, size_t most, struct buf *out, struct err *e)
{
	char block[BLOCK_SIZE];
	for (size_t have = 0;;) {
		ssize_t n = read(fd, block, sizeof(block));
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_errno(e, ERR_IO, "it cannot be read");
		if (n == 0)
			return 0;
		have += (size_t)n;
		if (have > most)
			return err_set(e, ERR_LIMIT, "it has more than %zu bytes", most);
		buf_add(out, block, (size_t)n);
	}
}

int views_file_read(int dirfd, const char *name, size_t most, struct buf *out, struct err *e)
{
	struct stat st;
	CLEANUP(mem_close)
	int fd = openat(dirfd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0 && errno == ENOENT)
		return err_set(e, ERR_NOT_FOUND, "it is missing");
	if (fd < 0 && (errno == ELOOP || errno == ENXIO))
		return err_set(e, ERR_INVALID, "it is no regular file");
	if (fd < 0 || fstat(fd, &st) < 0)
		return err_errno(e, ERR_IO, "it cannot be opened");
	if (!S_ISREG(st.st_mode))
		return err_set(e, ERR_INVALID, "it is no regular file");
	return read_bytes(fd, most, out, e);
}

int views_file_names(int dirfd, bool sweeps, views_file_fn *fn, void *ctx, struct err *e)
{
	int fd = openat(dirfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	CLEANUP(fs_close_dir) DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	if (!dir) {
		mem_close(&fd);
		return err_errno(e, ERR_IO, "the folder cannot be listed");
	}
	for (struct dirent *entry; errno = 0, (entry = readdir(dir)) != NULL;) {
		if (sweeps && tempname_sweep(dirfd, entry->d_name))
			continue;
		if (fn(ctx, entry->d_name, e) < 0)
			return -1;
	}
	return errno ? err_errno(e, ERR_IO, "the folder cannot be listed") : 0;
}

// NFS may report that the name is taken although the link was made, because the answer to it was lost. So the file itself
// tells: another writer's file may have the same bytes.
static bool is_linked(int dirfd, const char *tmp, const char *name)
{
	struct stat ours, found;
	CLEANUP(mem_close) int fd = openat(dirfd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	return fd >= 0 && fstat(fd, &found) == 0 && fstatat(dirfd, tmp, &ours, AT_SYMLINK_NOFOLLOW) == 0 &&
	       ours.st_dev == found.st_dev && ours.st_ino == found.st_ino;
}

int views_file_create(int dirfd, const char *name, struct str text, struct err *e)
{
	char tmp[TEMPNAME_NAME];
	struct err taken = ERR_INIT;
	tempname_name(tmp);
	CLEANUP(fs_tmp_release) struct fs_tmp file = {.fd = -1};
	if (fs_tmp_open(&file, dirfd, tmp, name, e) < 0)
		return -1;
	fs_give_to_owner(file.fd, dirfd);
	if (fs_tmp_write(&file, text, e) < 0)
		return -1;
	if (fs_tmp_link(&file, &taken) < 0 && taken.kind != ERR_CONFLICT) {
		*e = taken;
		return -1;
	}
	if (taken.kind == ERR_CONFLICT && !is_linked(dirfd, tmp, name))
		return err_set(e, ERR_CONFLICT, "%s: another writer has taken the name", name);
	return fs_sync_dir(dirfd, e);
}

// --- its freeze ---

// The folder as freeze.h expects it.
struct frozen_folder {
	char name[8], here[2];
	char *path;
	struct platform platform;
};

static void frozen_folder_release(struct frozen_folder *f)
{
	mem_free(&f->path);
}

static void frozen_folder_init(struct frozen_folder *f, const char *folder)
{
	*f = (struct frozen_folder){.name = "(views)", .here = ".", .path = xstrdup(folder)};
	f->platform = (struct platform){.name = f->name, .path = f->path, .root = f->path, .folder = f->here};
}

static int make_folder(const char *folder, struct err *e)
{
	CLEANUP(mem_close) int fd = views_file_folder(folder, "", true, e);
	return fd < 0 ? -1 : 0;
}

int views_freeze(const char *folder, const char *who, const char *reason, unsigned wait_ms, struct err *e)
{
	CLEANUP(frozen_folder_release) struct frozen_folder f;
	frozen_folder_init(&f, folder);
	return make_folder(folder, e) < 0 ? -1 : freeze_set(&f.platform, who, reason, wait_ms, e);
}

int views_thaw(const char *folder, bool *was_frozen, struct err *e)
{
	CLEANUP(frozen_folder_release) struct frozen_folder f;
	frozen_folder_init(&f, folder);
	*was_frozen = false;
	return access(folder, F_OK) < 0 ? 0 : freeze_clear(&f.platform, was_frozen, e);
}

int views_write_enter(const char *folder, struct freeze_hold *hold, struct err *e)
{
	CLEANUP(buf_release) struct buf why;
	CLEANUP(frozen_folder_release) struct frozen_folder f;
	frozen_folder_init(&f, folder);
	buf_init(&why, SIZE_MAX / 2); // the file is read up to a limit
	*hold = (struct freeze_hold){0};
	if (make_folder(folder, e) < 0)
		return -1;
	int frozen = freeze_is(&f.platform, &why, e);
	if (frozen > 0)
		return err_set(e, ERR_BUSY, "the views of the store are frozen: %s", why.data);
	return frozen < 0 ? -1 : freeze_enter(&f.platform, false, hold, e);
}
