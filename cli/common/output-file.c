// SPDX-License-Identifier: Apache-2.0
#include "cli/common/output-file.h"

#include <sys/stat.h>
#include <unistd.h>

#include "lib/os/fs.h"
#include "lib/os/safefile.h"

int output_file_write(const char *option, const char *path, struct str bytes, struct err *e)
{
	struct stat st;
	if (lstat(path, &st) == 0 && !S_ISREG(st.st_mode))
		return err_set(e, ERR_USAGE, "%s %s: it is there, and no regular file", option, path);
	CLEANUP(fs_tmp_release) struct fs_tmp file = {.fd = -1};
	CLEANUP(mem_free) char *name = NULL;
	CLEANUP(mem_close) int folder = safefile_parent(path, false, &name, e);
	CLEANUP(mem_free) char *tmp = xasprintf(".%s.%ld", name ? name : "", (long)getpid());
	if (folder < 0 || fs_tmp_open(&file, folder, tmp, name, e) < 0 || fs_tmp_write(&file, bytes, e) < 0 ||
		fs_tmp_publish(&file, e) < 0)
		return err_prefix(e, "cannot write %s: ", path);
	return fs_sync_dir(folder, e);
}
