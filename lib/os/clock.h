// SPDX-License-Identifier: Apache-2.0
// Clocks, and waiting with a time limit. Waits use the monotonic clock, so that setting the wall clock does not change
// them. Any thread; nothing here fails.
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

// The wall clock in nanoseconds since 1970, like the mtime of a file.
int64_t clock_wall_ns(void);
// The wall clock in seconds since 1970.
int64_t clock_wall_seconds(void);
// Writes seconds since 1970 as "2026-01-02T03:04:05Z" (RFC 3339), with NUL. A time before 1970 or after 9999 becomes
// the first or last one of that range.
enum { CLOCK_TEXT = 21 };
void clock_write(int64_t seconds, char out[CLOCK_TEXT]);
// Reads exactly this form, from 1970 on. Returns false, with *seconds unchanged, for anything else.
bool clock_read(const char *text, int64_t *seconds);
// The same, and reads a date, "2026-01-02", as the last second of that day (UTC).
bool clock_read_end(const char *text, int64_t *seconds);
// Reads a date of HTTP, "Sun, 06 Nov 1994 08:49:37 GMT" (RFC 9110, section 5.6.7). Returns false, with *seconds
// unchanged, for anything else.
bool clock_read_http(const char *text, int64_t *seconds);
// The monotonic clock in seconds; never 0.
long clock_seconds(void);
// The monotonic clock in milliseconds.
int64_t clock_ms(void);
// Seconds since the machine was started, also those in which it slept: what tells a step of the wall clock from a
// pause.
int64_t clock_boot_seconds(void);
// The time that the calling thread has computed, in milliseconds.
int64_t clock_thread_ms(void);
// Initialises a condition for clock_wait(). The caller destroys it.
void clock_cond_init(pthread_cond_t *condition);
// Waits with lock held until the condition is signalled or clock_ms() reaches end_ms. False in the second case.
bool clock_wait(pthread_cond_t *condition, pthread_mutex_t *lock, int64_t end_ms);
