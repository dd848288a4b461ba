// SPDX-License-Identifier: Apache-2.0
// The work folder of attempt.h.
#include "builder/step/attempt.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>

#include "lib/os/fs.h"
#include "lib/os/tree.h"

char *attempt_log_path(const char *work, const char *id)
{
	return xasprintf("%s/%s/log", work, id);
}

static bool is_attempt_id(const char *name)
{
	return strlen(name) == RESULTS_ID && strspn(name, "0123456789abcdef") == RESULTS_ID;
}

int attempt_clean(const char *work, struct err *e)
{
	int result = 0;
	CLEANUP(mem_close) int fd = fs_open_dir(work, e);
	if (fd < 0)
		return -1;
	int listed = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	CLEANUP(fs_close_dir) DIR *dir = listed < 0 ? NULL : fdopendir(listed);
	if (!dir) {
		mem_close(&listed);
		return err_errno(e, ERR_IO, "%s", work);
	}
	for (struct dirent *entry; (entry = readdir(dir));)
		if (is_attempt_id(entry->d_name) && tree_remove(fd, entry->d_name, e) < 0)
			result = -1;
	return result;
}
