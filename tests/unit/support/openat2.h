// SPDX-License-Identifier: Apache-2.0
// Tells cmocka tests whether openat2() works. Without it, fs_open_beneath follows no link. Kernels before 5.6 do not
// have it, containers may forbid it, and valgrind 3.19 does not know it.
#pragma once

#include <fcntl.h>
#include <linux/openat2.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <unistd.h>

static inline bool has_openat2(void)
{
	struct open_how how = {.flags = O_PATH | O_CLOEXEC};
	int fd = (int)syscall(SYS_openat2, AT_FDCWD, ".", &how, sizeof(how));
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}
