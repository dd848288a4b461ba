// SPDX-License-Identifier: Apache-2.0
// The time, and waiting for some of it. What is waited for is never changed by somebody who sets the clock.
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

// Nanoseconds since 1970, as file systems count.
int64_t clock_wall_ns(void);
// Seconds since 1970.
int64_t clock_wall_seconds(void);
// "2026-01-02T03:04:05Z" (RFC 3339), of years that have four digits.
enum { CLOCK_TEXT = 21 };
void clock_write(int64_t seconds, char out[CLOCK_TEXT]);
// Reads exactly this form.
bool clock_read(const char *text, int64_t *seconds);
// Seconds of the monotonic clock; never 0.
long clock_seconds(void);
// Milliseconds of the monotonic clock.
int64_t clock_ms(void);
// A condition that clock_wait() can wait for.
void clock_cond_init(pthread_cond_t *condition);
// Waits for the condition until clock_ms() is end_ms. False where that came first.
bool clock_wait(pthread_cond_t *condition, pthread_mutex_t *lock, int64_t end_ms);
