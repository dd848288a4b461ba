// SPDX-License-Identifier: Apache-2.0
// For LD_PRELOAD: the ctime of each file is its mtime, as on AFS, so that it says nothing of a write.
#include <dlfcn.h>
#include <sys/stat.h>

#define NEXT(function) ((__typeof__(&(function)))dlsym(RTLD_NEXT, #function))

static int forget(int result, struct stat *st)
{
	if (result == 0)
		st->st_ctim = st->st_mtim;
	return result;
}

int stat(const char *restrict path, struct stat *restrict st)
{
	return forget(NEXT(stat)(path, st), st);
}

int lstat(const char *restrict path, struct stat *restrict st)
{
	return forget(NEXT(lstat)(path, st), st);
}

int fstat(int fd, struct stat *st)
{
	return forget(NEXT(fstat)(fd, st), st);
}

int fstatat(int folder, const char *restrict name, struct stat *restrict st, int flags)
{
	return forget(NEXT(fstatat)(folder, name, st, flags), st);
}
