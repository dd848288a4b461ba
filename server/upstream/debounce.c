// SPDX-License-Identifier: Apache-2.0
#include "server/upstream/debounce.h"

#include "lib/os/clock.h"

void debounce_init(struct debounce *d, int64_t pause_ms, size_t most)
{
	*d = (struct debounce){.pause_ms = pause_ms, .most = most};
	pthread_mutex_init(&d->lock, NULL);
	clock_cond_init(&d->changed);
}

void debounce_destroy(struct debounce *d)
{
	pthread_cond_destroy(&d->changed);
	pthread_mutex_destroy(&d->lock);
}

void debounce_add(struct debounce *d, size_t weight)
{
	pthread_mutex_lock(&d->lock);
	d->last_added_ms = clock_ms();
	d->pending_since_ms = d->pending ? d->pending_since_ms : d->last_added_ms;
	d->pending += weight;
	if (d->pending >= d->most)
		pthread_cond_broadcast(&d->changed);
	pthread_mutex_unlock(&d->lock);
}

void debounce_remove(struct debounce *d, size_t weight)
{
	pthread_mutex_lock(&d->lock);
	d->pending -= weight;
	pthread_mutex_unlock(&d->lock);
}

// With the lock held.
static int64_t debounce_end_ms(const struct debounce *d)
{
	int64_t pause = d->last_added_ms + d->pause_ms, latest = d->pending_since_ms + DEBOUNCE_PAUSES * d->pause_ms;
	return pause < latest ? pause : latest;
}

void debounce_wait(struct debounce *d)
{
	pthread_mutex_lock(&d->lock);
	while (!d->is_closed && d->pending < d->most && clock_ms() < debounce_end_ms(d))
		clock_wait(&d->changed, &d->lock, debounce_end_ms(d));
	pthread_mutex_unlock(&d->lock);
}

void debounce_close(struct debounce *d)
{
	pthread_mutex_lock(&d->lock);
	d->is_closed = true;
	pthread_cond_broadcast(&d->changed);
	pthread_mutex_unlock(&d->lock);
}
