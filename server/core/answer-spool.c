// SPDX-License-Identifier: Apache-2.0
#include "server/core/answer-spool.h"

#include <sys/statvfs.h>

#include "lib/base/limits.h"
#include "lib/base/log.h"
#include "lib/os/fs.h"
#include "lib/os/safefile.h"

// The catalog is on this disk, and must not be stopped by it.
static int check_spool_room(int folder, struct err *e)
{
	struct statvfs disk;
	if (fstatvfs(folder, &disk) < 0)
		return err_errno(e, ERR_IO, "the disk of the catalog");
	uint64_t left = (uint64_t)disk.f_bavail * disk.f_frsize;
	return left < 2 * (uint64_t)LIMIT_ANSWERS_SPOOLED ? err_set(e, ERR_FULL, "the disk of the catalog is nearly full") : 0;
}

static struct blob *write_spool_file(const char *catalog_path, struct str bytes, struct err *e)
{
	CLEANUP(mem_close) int folder = safefile_parent(catalog_path, false, NULL, e);
	CLEANUP(fs_tmp_release) struct fs_tmp file = {.fd = -1};
	if (folder < 0 || check_spool_room(folder, e) < 0 || fs_tmp_open_nameless(&file, folder, "an answer", e) < 0 ||
		fs_tmp_write(&file, bytes, e) < 0)
		return NULL;
	return blob_map_own(file.fd, bytes.len, e);
}

struct blob *answer_spool(const char *catalog_path, struct buf *bytes)
{
	struct err e = ERR_INIT;
	if (bytes->len <= LIMIT_ANSWER_KEPT || !catalog_path)
		return blob_from_buf(bytes);
	struct blob *b = write_spool_file(catalog_path, buf_view(bytes), &e);
	if (!b) {
		log_debug("%s", e.msg);
		return blob_from_buf(bytes);
	}
	buf_release(bytes);
	return b;
}
