// SPDX-License-Identifier: Apache-2.0
// A thread that calls a function again and again, with a pause between two calls, until it is stopped.
//
// One thread creates, starts, stops and frees a timer thread. Any thread may call the other functions, also the called
// function itself, and also before the start and after the stop. No function calls fn with a lock held.
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct timer_thread;

enum { TIMER_THREAD_UNTIL_WOKEN = -1 };

// Returns the pause before the next call in milliseconds, or TIMER_THREAD_UNTIL_WOKEN. The calls never overlap.
typedef int64_t timer_thread_fn(void *ctx);

// The caller frees the result. ctx is borrowed until the stop.
struct timer_thread *timer_thread_new(timer_thread_fn *fn, void *ctx);
// The first call comes after first_ms milliseconds. The thread has the signal mask of the calling thread.
void timer_thread_start(struct timer_thread *t, int64_t first_ms);
// Calls fn at once. During a call: calls fn once more when that one has returned.
void timer_thread_wake(struct timer_thread *t);
// Calls fn when clock_ms() is due_ms, if no call is due before. A call under way does not cancel it.
void timer_thread_wake_by(struct timer_thread *t, int64_t due_ms);
// No further call begins. Does not wait for a call under way.
void timer_thread_request_stop(struct timer_thread *t);
// Whether a stop was requested: a long call asks now and then.
bool timer_thread_is_stopping(struct timer_thread *t);
// Requests the stop and waits for a call under way. May be called twice; NULL is fine.
void timer_thread_stop(struct timer_thread *t);
// Stops, then frees. NULL is fine.
void timer_thread_free(struct timer_thread *t);
