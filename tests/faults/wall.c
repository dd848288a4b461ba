// SPDX-License-Identifier: Apache-2.0
// For LD_PRELOAD: the wall clock is ahead by the number of seconds in the file $WALL_BENEATH, or behind where the
// number is negative; empty or missing: 0. Times of files stay those of the system.
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define NEXT(function) ((__typeof__(&(function)))dlsym(RTLD_NEXT, #function))

static long seconds_ahead(void)
{
	char text[16] = "";
	const char *control = getenv("WALL_BENEATH");
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
	if (result == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE))
		out->tv_sec += seconds_ahead();
	return result;
}

time_t time(time_t *out)
{
	struct timespec now;
	clock_gettime(CLOCK_REALTIME_COARSE, &now);
	if (out)
		*out = now.tv_sec;
	return now.tv_sec;
}

// SQLite asks this one.
int gettimeofday(struct timeval *restrict out, void *restrict zone)
{
	int result = NEXT(gettimeofday)(out, zone);
	out->tv_sec += seconds_ahead();
	return result;
}
