// SPDX-License-Identifier: Apache-2.0
#include "lib/os/clock.h"

#include <stdio.h>
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

static int read_two_digits(const char *digits)
{
	return 10 * (digits[0] - '0') + (digits[1] - '0');
}

static bool is_leap(int year)
{
	return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

// Returns the number of days since 1970; -1 if there is no such day or it is before 1970.
static int64_t days_since_1970(int year, int month, int day)
{
	static const int before[] = {0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334, 365};
	if (year < 1970 || month < 1 || month > 12 || day < 1)
		return -1;
	int length = before[month] - before[month - 1] + (month == 2 && is_leap(year));
	int last = year - 1; // the last year whose leap day counts
	int64_t whole = 365 * (int64_t)(year - 1970) + (last / 4 - last / 100 + last / 400) -
			(1969 / 4 - 1969 / 100 + 1969 / 400);
	return day > length ? -1 : whole + before[month - 1] + (month > 2 && is_leap(year)) + day - 1;
}

// timegm() takes ten times as long, and accepts June 31 as July 1.
bool clock_read(const char *text, int64_t *seconds)
{
	static const char form[] = "0000-00-00T00:00:00Z";
	size_t i = 0;
	while (form[i] && (form[i] == '0' ? text[i] >= '0' && text[i] <= '9' : text[i] == form[i]))
		i++;
	if (!(!form[i] && !text[i]))
		return false;
	int64_t day = days_since_1970(100 * read_two_digits(text) + read_two_digits(text + 2),
		read_two_digits(text + 5), read_two_digits(text + 8));
	int hour = read_two_digits(text + 11), minute = read_two_digits(text + 14), second = read_two_digits(text + 17);
	if (day < 0 || hour > 23 || minute > 59 || second > 59)
		return false;
	*seconds = ((day * 24 + hour) * 60 + minute) * 60 + second;
	return true;
}

bool clock_read_end(const char *text, int64_t *seconds)
{
	enum { DATE = sizeof("2026-01-02") - 1 };
	char last[CLOCK_TEXT];
	if (strlen(text) != DATE)
		return clock_read(text, seconds);
	snprintf(last, sizeof(last), "%sT23:59:59Z", text);
	return clock_read(last, seconds);
}

bool clock_read_http(const char *text, int64_t *seconds)
{
	struct tm tm = {0};
	const char *end = strptime(text, "%a, %d %b %Y %H:%M:%S GMT", &tm);
	if (!end || *end)
		return false;
	*seconds = (int64_t)timegm(&tm);
	return true;
}

long clock_seconds(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
	return t.tv_sec + 1;
}

int64_t clock_thread_ms(void)
{
	struct timespec t;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

int64_t clock_ms(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

int64_t clock_boot_seconds(void)
{
	struct timespec t;
	clock_gettime(CLOCK_BOOTTIME, &t);
	return t.tv_sec;
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
