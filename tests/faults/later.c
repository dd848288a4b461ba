// SPDX-License-Identifier: Apache-2.0
// For LD_PRELOAD: the monotonic clock is ahead by the number of hours in the file $LATER_BENEATH; empty or missing: 0.
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define NEXT(function) ((__typeof__(&(function)))dlsym(RTLD_NEXT, #function))

static long hours(void)
{
	char text[16] = "";
	const char *control = getenv("LATER_BENEATH");
	int fd = control ? open(control, O_RDONLY | O_CLOEXEC) : -1;
	if (fd < 0)
		return 0;
	ssize_t len = read(fd, text, sizeof(text) - 1);
	close(fd);
	return len > 0 ? strtol(text, NULL, 10) : 0;
}

int clock_gettime(clockid_t clock, struct timespec *out)
{
	int result = NEXT(clock_gettime)(clock, out);
	if (result == 0 && (clock == CLOCK_MONOTONIC || clock == CLOCK_MONOTONIC_COARSE))
		out->tv_sec += hours() * 3600;
	return result;
}
