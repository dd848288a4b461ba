// SPDX-License-Identifier: Apache-2.0
#include "lib/base/clock.h"

#include <string.h>
#include <time.h>

int64_t clock_wall_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_REALTIME, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

int64_t clock_wall_seconds(void)
{
	return clock_wall_ns() / 1000000000;
}

void clock_write(int64_t seconds, char out[CLOCK_TEXT])
{
	const int64_t last = 253402300799; // 9999-12-31
	time_t t = (time_t)(seconds < 0 ? 0 : seconds > last ? last : seconds);
	struct tm tm;
	gmtime_r(&t, &tm);
	strftime(out, CLOCK_TEXT, "%Y-%m-%dT%H:%M:%SZ", &tm);
}

// strptime takes much more than this form; so it is written again, and must be the same.
bool clock_read(const char *text, int64_t *seconds)
{
	struct tm tm = {0};
	char again[CLOCK_TEXT];
	const char *end = strptime(text, "%Y-%m-%dT%H:%M:%SZ", &tm);
	if (!end || *end)
		return false;
	int64_t found = (int64_t)timegm(&tm);
	clock_write(found, again);
	if (strcmp(text, again) != 0)
		return false;
	*seconds = found;
	return true;
}

long clock_seconds(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
	return t.tv_sec + 1;
}

int64_t clock_ms(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

void clock_cond_init(pthread_cond_t *condition)
{
	pthread_condattr_t monotonic;
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(condition, &monotonic);
	pthread_condattr_destroy(&monotonic);
}

bool clock_wait(pthread_cond_t *condition, pthread_mutex_t *lock, int64_t end_ms)
{
	struct timespec end = {.tv_sec = end_ms / 1000, .tv_nsec = end_ms % 1000 * 1000000};
	return pthread_cond_timedwait(condition, lock, &end) == 0;
}
