// SPDX-License-Identifier: Apache-2.0
#include "lib/os/timer-thread.h"

#include <pthread.h>
#include <stdlib.h>

#include "lib/base/mem.h"
#include "lib/os/clock.h"

static const int64_t NEVER = INT64_MAX;

struct timer_thread {
	timer_thread_fn *fn;
	void *ctx;
	pthread_t thread;
	bool is_started; // of the thread that starts and stops
	pthread_mutex_t lock;
	pthread_cond_t changed;
	int64_t due_ms; // of the next call, by clock_ms(); this and the next under the lock
	bool is_stopping;
};

// Under the lock. False after a request to stop.
static bool wait_until_due(struct timer_thread *t)
{
	while (!t->is_stopping) {
		if (t->due_ms == NEVER)
			pthread_cond_wait(&t->changed, &t->lock);
		else if (clock_ms() >= t->due_ms)
			return true;
		else
			clock_wait(&t->changed, &t->lock, t->due_ms);
	}
	return false;
}

// Under the lock.
static void set_due_by(struct timer_thread *t, int64_t due_ms)
{
	if (due_ms < t->due_ms)
		t->due_ms = due_ms;
}

static void *run_timer(void *arg)
{
	struct timer_thread *t = arg;
	pthread_mutex_lock(&t->lock);
	while (wait_until_due(t)) {
		t->due_ms = NEVER;
		pthread_mutex_unlock(&t->lock);
		int64_t pause_ms = t->fn(t->ctx);
		pthread_mutex_lock(&t->lock);
		if (pause_ms != TIMER_THREAD_UNTIL_WOKEN)
			set_due_by(t, clock_ms() + pause_ms);
	}
	pthread_mutex_unlock(&t->lock);
	return NULL;
}

struct timer_thread *timer_thread_new(timer_thread_fn *fn, void *ctx)
{
	struct timer_thread *t = xcalloc(1, sizeof(*t));
	t->fn = fn;
	t->ctx = ctx;
	t->due_ms = NEVER;
	pthread_mutex_init(&t->lock, NULL);
	clock_cond_init(&t->changed);
	return t;
}

void timer_thread_start(struct timer_thread *t, int64_t first_ms)
{
	timer_thread_wake_by(t, clock_ms() + first_ms);
	t->is_started = true;
	if (pthread_create(&t->thread, NULL, run_timer, t) != 0)
		abort();
}

void timer_thread_wake(struct timer_thread *t)
{
	timer_thread_wake_by(t, 0);
}

void timer_thread_wake_by(struct timer_thread *t, int64_t due_ms)
{
	pthread_mutex_lock(&t->lock);
	set_due_by(t, due_ms);
	pthread_cond_signal(&t->changed);
	pthread_mutex_unlock(&t->lock);
}

void timer_thread_request_stop(struct timer_thread *t)
{
	pthread_mutex_lock(&t->lock);
	t->is_stopping = true;
	pthread_cond_signal(&t->changed);
	pthread_mutex_unlock(&t->lock);
}

bool timer_thread_is_stopping(struct timer_thread *t)
{
	pthread_mutex_lock(&t->lock);
	bool is_stopping = t->is_stopping;
	pthread_mutex_unlock(&t->lock);
	return is_stopping;
}

void timer_thread_stop(struct timer_thread *t)
{
	if (!t)
		return;
	timer_thread_request_stop(t);
	if (t->is_started)
		pthread_join(t->thread, NULL);
	t->is_started = false;
}

void timer_thread_free(struct timer_thread *t)
{
	if (!t)
		return;
	timer_thread_stop(t);
	pthread_cond_destroy(&t->changed);
	pthread_mutex_destroy(&t->lock);
	free(t);
}
