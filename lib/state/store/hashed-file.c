// SPDX-License-Identifier: Apache-2.0
#include "lib/state/store/hashed-file.h"

#include "lib/os/fs.h"

int hashed_file_open(const struct platform *p, const char *path, const struct hashed_state *known, struct stat *st,
	struct err *e)
{
	if (p->is_away)
		return err_set(e, ERR_IO, "platform %s does not answer", p->name);
	CLEANUP(mem_close) int fd = store_open_file(p, path, e);
	if (fd < 0)
		return -1;
	if (fstat(fd, st) < 0)
		return err_errno(e, ERR_IO, "fstat");
	if (!S_ISREG(st->st_mode) || (uint64_t)st->st_size != known->size || fs_mtime_ns(st) != known->mtime_ns ||
		st->st_ino != known->inode)
		return err_set(e, ERR_BUSY, "the file is no longer what the catalog knows");
	return mem_steal_fd(&fd);
}
