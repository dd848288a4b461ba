// SPDX-License-Identifier: Apache-2.0
#include "builder/probe/wheel-unpack.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "builder/step/top-modules.h"
#include "lib/base/limits.h"
#include "lib/domain/archive/memberpath.h"
#include "lib/domain/archive/zipframe.h"
#include "lib/domain/archive/zipread.h"
#include "lib/os/fs.h"

struct wheel_unpacking {
	const struct byte_source *bytes;
	int folder;
	struct strset *paths;
	int fd; // of the file that is being written
	uint64_t total;
};

static int write_piece(void *ctx, struct str piece, struct err *e)
{
	const struct wheel_unpacking *u = ctx;
	while (piece.len) {
		ssize_t n = write(u->fd, piece.ptr, piece.len);
		if (n < 0)
			return err_errno(e, fs_kind_of_write(), "write");
		piece = str_slice(piece, (size_t)n, piece.len);
	}
	return 0;
}

// path is changed while this works, and is what it was afterwards.
static int make_folders_of(const struct wheel_unpacking *u, char *path, struct err *e)
{
	for (char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		int made = mkdirat(u->folder, path, S_IRWXU);
		*slash = '/';
		if (made < 0 && errno != EEXIST)
			return err_errno(e, fs_kind_of_write(), "%s", path);
	}
	return 0;
}

static int unpack_file(struct wheel_unpacking *u, const struct zipmember *m, struct str target, struct err *e)
{
	CLEANUP(mem_free) char *path = xstrndup(target.ptr, target.len);
	if (make_folders_of(u, path, e) < 0)
		return -1;
	CLEANUP(mem_close)
	int fd = openat(u->folder, path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, S_IRUSR | S_IWUSR);
	if (fd < 0)
		return err_errno(e, fs_kind_of_write(), "%s", path);
	u->fd = fd;
	strset_add(u->paths, path);
	return zipread_member(u->bytes, m, write_piece, u, e);
}

static int unpack_member(struct wheel_unpacking *u, const struct zipmember *m, struct err *e)
{
	struct str target = top_modules_installed_path(m->name);
	if (m->is_folder || !target.len)
		return 0;
	if (memberpath_leads_out(target) || !memberpath_is_plain(target))
		return err_set(e, ERR_INVALID, "the path " STR_FMT " is not below the folder of modules",
			STR_ARG(m->name));
	u->total += m->size; // zipread_member refuses 4 GiB and more
	if (u->total > LIMIT_UNPACKED && u->total / LIMIT_UNPACKED_RATIO > u->bytes->size)
		return err_set(e, ERR_LIMIT, "it unpacks to more than %d times its size", LIMIT_UNPACKED_RATIO);
	return unpack_file(u, m, target, e);
}

static int unpack_members(struct wheel_unpacking *u, struct err *e)
{
	struct zipdirectory zip;
	CLEANUP(findings_release) struct findings findings;
	findings_init(&findings);
	if (zipframe_read(u->bytes, LENIENT, &findings, &zip, e) < 0)
		return -1;
	int result = 0;
	for (size_t i = 0; i < zip.count && result == 0; i++)
		result = unpack_member(u, &zip.members[i], e);
	zipdirectory_release(&zip);
	strset_sort(u->paths);
	return result;
}

int wheel_unpack(const char *wheel, int folder, struct strset *paths, struct err *e)
{
	struct stat st;
	CLEANUP(mem_close) int fd = open(wheel, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0 || fstat(fd, &st) < 0)
		return err_errno(e, errno == ENOENT ? ERR_NOT_FOUND : ERR_IO, "%s", wheel);
	const struct byte_source bytes = byte_source_file(fd, (uint64_t)st.st_size);
	struct wheel_unpacking u = {.bytes = &bytes, .folder = folder, .paths = paths, .fd = -1};
	return unpack_members(&u, e) < 0 ? err_prefix(e, "%s: ", wheel) : 0;
}
