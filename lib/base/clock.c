// SPDX-License-Identifier: Apache-2.0
#include "lib/base/clock.h"

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

static bool has_form(const char *text)
{
	static const char form[] = "0000-00-00T00:00:00Z";
	size_t i = 0;
	while (form[i] && (form[i] == '0' ? text[i] >= '0' && text[i] <= '9' : text[i] == form[i]))
		i++;
	return !form[i] && !text[i];
}

static int two(const char *digits)
{
	return 10 * (digits[0] - '0') + (digits[1] - '0');
}

// timegm() puts the 31st of June right; then it is another time than the text's.
bool clock_read(const char *text, int64_t *seconds)
{
	if (!has_form(text))
		return false;
	const struct tm said = {.tm_year = 100 * two(text) + two(text + 2) - 1900, .tm_mon = two(text + 5) - 1,
		.tm_mday = two(text + 8), .tm_hour = two(text + 11), .tm_min = two(text + 14), .tm_sec = two(text + 17)};
	struct tm tm = said;
	int64_t found = (int64_t)timegm(&tm);
	if (found < 0 || tm.tm_mon != said.tm_mon || tm.tm_mday != said.tm_mday || tm.tm_hour != said.tm_hour ||
		tm.tm_min != said.tm_min || tm.tm_sec != said.tm_sec)
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
