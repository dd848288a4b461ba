// SPDX-License-Identifier: Apache-2.0
// For LD_PRELOAD: the folder /etc/wheelcache is $ETC_BENEATH. So a test needs no file in /etc of the machine, and no
// right to make one.
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NEXT(function) ((__typeof__(&(function)))dlsym(RTLD_NEXT, #function))

// out has room for every path of a test.
static const char *place_of(const char *path, char out[4096])
{
	static const char etc[] = "/etc/wheelcache/";
	const char *folder = getenv("ETC_BENEATH");
	if (!folder || strncmp(path, etc, strlen(etc)) != 0)
		return path;
	snprintf(out, 4096, "%s/%s", folder, path + strlen(etc));
	return out;
}

int access(const char *path, int mode)
{
	char place[4096];
	return NEXT(access)(place_of(path, place), mode);
}

int open(const char *path, int flags, ...)
{
	char place[4096];
	va_list ap;
	va_start(ap, flags);
	mode_t mode = flags & O_CREAT ? va_arg(ap, mode_t) : 0;
	va_end(ap);
	return NEXT(open)(place_of(path, place), flags, mode);
}
