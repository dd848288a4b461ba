// SPDX-License-Identifier: Apache-2.0
#include "lib/os/throttle.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "lib/base/mem.h"
#include "lib/os/clock.h"

struct throttle {
	pthread_mutex_t lock;
	uint64_t rate;
	double due_ms; // the clock_ms() at which the rate allows all bytes so far
};

struct throttle *throttle_new(uint64_t rate)
{
	struct throttle *t = xcalloc(1, sizeof(*t));
	pthread_mutex_init(&t->lock, NULL);
	t->rate = rate;
	return t;
}

void throttle_free(struct throttle *t)
{
	if (!t)
		return;
	pthread_mutex_destroy(&t->lock);
	free(t);
}

void throttle_cleanup(struct throttle **t)
{
	throttle_free(*t);
	*t = NULL;
}

// A pause earns nothing: no burst follows it.
static double account_for(struct throttle *t, uint64_t bytes)
{
	double now = (double)clock_ms();
	pthread_mutex_lock(&t->lock);
	if (t->due_ms < now)
		t->due_ms = now;
	t->due_ms += (double)bytes * 1000 / (double)t->rate;
	double until = t->due_ms;
	pthread_mutex_unlock(&t->lock);
	return until;
}

void throttle_account(struct throttle *t, uint64_t bytes)
{
	int64_t until = (int64_t)account_for(t, bytes);
	struct timespec at = {.tv_sec = until / 1000, .tv_nsec = until % 1000 * 1000000};
	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL) == EINTR)
		;
}
