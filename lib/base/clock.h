// SPDX-License-Identifier: Apache-2.0
// The time, and waiting for some of it. What is waited for is never changed by somebody who sets the clock.
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

// Nanoseconds since 1970, as file systems count.
int64_t clock_wall_ns(void);
// Seconds of the monotonic clock; never 0.
long clock_seconds(void);
// Milliseconds of the monotonic clock.
int64_t clock_ms(void);
// A condition that clock_wait() can wait for.
void clock_cond_init(pthread_cond_t *condition);
// Waits for the condition until clock_ms() is end_ms. False where that came first.
bool clock_wait(pthread_cond_t *condition, pthread_mutex_t *lock, int64_t end_ms);
