// SPDX-License-Identifier: Apache-2.0
// For LD_PRELOAD: resolving, creating or touching a path hangs, as on a volume whose server is away. The file
// $HANG_BENEATH contains a part of the paths that hang, as long as it contains it; empty or missing: none hangs.
#include <dlfcn.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define NEXT(function) ((__typeof__(&(function)))dlsym(RTLD_NEXT, #function))

static bool hangs(const char *path)
{
	char part[256];
	const char *control = getenv("HANG_BENEATH");
	int fd = control ? open(control, O_RDONLY | O_CLOEXEC) : -1;
	if (fd < 0)
		return false;
	ssize_t len = read(fd, part, sizeof(part) - 1);
	close(fd);
	part[len > 0 ? len : 0] = '\0';
	return len > 0 && strstr(path, part);
}

static void wait_for(const char *path)
{
	while (hangs(path))
		nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
}

char *realpath(const char *path, char *out)
{
	wait_for(path);
	return NEXT(realpath)(path, out);
}

// With room for a name after it.
static size_t path_of(int fd, char path[8192])
{
	char link[64];
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	ssize_t len = readlink(link, path, 4096);
	path[len > 0 ? len : 0] = '\0';
	return strlen(path);
}

int mkdirat(int folder, const char *name, mode_t mode)
{
	char path[8192];
	snprintf(path + path_of(folder, path), 4096, "/%s", name);
	wait_for(path);
	return NEXT(mkdirat)(folder, name, mode);
}

int futimens(int fd, const struct timespec times[2])
{
	char path[8192];
	path_of(fd, path);
	wait_for(path);
	return NEXT(futimens)(fd, times);
}
