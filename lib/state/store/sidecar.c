// SPDX-License-Identifier: Apache-2.0
#include "lib/state/store/sidecar.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/limits.h"
#include "lib/domain/text/filename.h"
#include "lib/os/fs.h"
#include "lib/state/store/tempname.h"

const char *const sidecar_ending[MARK_COUNT] = {
	[MARK_YANKED] = ".yanked",
	[MARK_PRUNED] = ".pruned",
};

bool sidecar_is(struct str name, struct str *filename, enum mark *mark)
{
	for (int i = 0; i < MARK_COUNT; i++) {
		struct str ending = str_from(sidecar_ending[i]);
		if (!str_ends(name, ending))
			continue;
		*filename = str_slice(name, 0, name.len - ending.len);
		*mark = (enum mark)i;
		return filename_kind(*filename) != FILENAME_OTHER;
	}
	return false;
}

bool sidecar_fits(const char *filename)
{
	size_t longest = 0;
	for (int i = 0; i < MARK_COUNT; i++)
		longest = strlen(sidecar_ending[i]) > longest ? strlen(sidecar_ending[i]) : longest;
	return strlen(filename) + longest <= LIMIT_FILE_NAME;
}

// The caller frees it; NULL with *e set: the name would be too long.
static char *sidecar_name(const char *filename, enum mark mark, struct err *e)
{
	char *name = xasprintf("%s%s", filename, sidecar_ending[mark]);
	if (strlen(name) <= LIMIT_FILE_NAME)
		return name;
	err_set(e, ERR_LIMIT, "%s: too long to have a \"%s\" beside it", filename, sidecar_ending[mark]);
	mem_free(&name);
	return NULL;
}

static int read_sidecar_text(int fd, struct buf *out, struct err *e)
{
	for (size_t got = 0; got < LIMIT_SIDECAR;) {
		char block[4096];
		ssize_t n = read(fd, block, sizeof(block));
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_errno(e, ERR_IO, "cannot read it");
		if (n == 0)
			break;
		buf_add(out, block, (size_t)n);
		got += (size_t)n;
	}
	return 0;
}

// Does not block: a FIFO of that name is not a sidecar.
int sidecar_read(int folder, const char *filename, enum mark mark, struct buf *out, struct err *e)
{
	struct err why = ERR_INIT;
	struct stat st;
	CLEANUP(mem_free) char *name = xasprintf("%s%s", filename, sidecar_ending[mark]);
	if (strlen(name) > LIMIT_FILE_NAME)
		return 0;
	CLEANUP(mem_close)
	int fd = fs_open_beneath(folder, name, O_RDONLY | O_NONBLOCK | O_NOCTTY, &why);
	if (fd < 0 && why.kind == ERR_NOT_FOUND)
		return 0;
	if (fd >= 0 && fstat(fd, &st) == 0 && !S_ISREG(st.st_mode))
		return 0;
	if (fd < 0 || read_sidecar_text(fd, out, &why) < 0) {
		*e = why;
		return fd < 0 ? -1 : err_prefix(e, "%s: ", name);
	}
	return 1;
}

int sidecar_write(int folder, const char *filename, enum mark mark, struct str text, struct err *e)
{
	char tmp[TEMPNAME_NAME];
	CLEANUP(mem_free) char *name = sidecar_name(filename, mark, e);
	CLEANUP(fs_tmp_release) struct fs_tmp file = {.fd = -1};
	tempname_name(tmp);
	if (!name || fs_tmp_open(&file, folder, tmp, name, e) < 0 || fs_tmp_write(&file, text, e) < 0 ||
		fs_tmp_publish(&file, e) < 0)
		return -1;
	return fs_sync_dir(folder, e);
}

int sidecar_remove(int folder, const char *filename, enum mark mark, struct err *e)
{
	CLEANUP(mem_free) char *name = xasprintf("%s%s", filename, sidecar_ending[mark]);
	if (unlinkat(folder, name, 0) < 0 && errno != ENOENT && errno != ENAMETOOLONG)
		return err_errno(e, ERR_IO, "%s", name);
	return fs_sync_dir(folder, e);
}
