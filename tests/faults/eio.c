// SPDX-License-Identifier: Apache-2.0
// For LD_PRELOAD: reads fail with EIO, as on a volume that went away. The file $EIO_BENEATH contains a part of the
// paths that fail; empty or missing: none fails.
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NEXT(function) ((__typeof__(&(function)))dlsym(RTLD_NEXT, #function))

// Without read and open, because these are replaced.
static bool read_part(char *out, size_t room)
{
	const char *path = getenv("EIO_BENEATH");
	long fd = path ? syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC) : -1;
	if (fd < 0)
		return false;
	long len = syscall(SYS_read, fd, out, room - 1);
	syscall(SYS_close, fd);
	out[len > 0 ? len : 0] = '\0';
	return len > 0;
}

static bool is_broken(int fd)
{
	char part[256], link[64], path[4096];
	int kept = errno;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	ssize_t len = fd < 0 || !read_part(part, sizeof(part)) ? -1 : readlink(link, path, sizeof(path) - 1);
	path[len > 0 ? len : 0] = '\0';
	bool broken = len > 0 && strstr(path, part);
	errno = broken ? EIO : kept;
	return broken;
}

struct dirent *readdir(DIR *dir)
{
	return is_broken(dirfd(dir)) ? NULL : NEXT(readdir)(dir);
}

struct dirent64 *readdir64(DIR *dir)
{
	return is_broken(dirfd(dir)) ? NULL : NEXT(readdir64)(dir);
}

ssize_t read(int fd, void *out, size_t len)
{
	return is_broken(fd) ? -1 : NEXT(read)(fd, out, len);
}

ssize_t pread(int fd, void *out, size_t len, off_t at)
{
	return is_broken(fd) ? -1 : NEXT(pread)(fd, out, len, at);
}

ssize_t pread64(int fd, void *out, size_t len, off64_t at)
{
	return is_broken(fd) ? -1 : NEXT(pread64)(fd, out, len, at);
}

void *mmap(void *where, size_t len, int protection, int flags, int fd, off_t at)
{
	return is_broken(fd) ? MAP_FAILED : NEXT(mmap)(where, len, protection, flags, fd, at);
}

void *mmap64(void *where, size_t len, int protection, int flags, int fd, off64_t at)
{
	return is_broken(fd) ? MAP_FAILED : NEXT(mmap64)(where, len, protection, flags, fd, at);
}
