// SPDX-License-Identifier: Apache-2.0
#include "server/upstream/debounce.h"

#include "lib/os/clock.h"

void debounce_init(struct debounce *l, int64_t pause_ms, size_t most)
{
	*l = (struct debounce){.pause_ms = pause_ms, .most = most};
	pthread_mutex_init(&l->lock, NULL);
	clock_cond_init(&l->changed);
}

void debounce_destroy(struct debounce *l)
{
	pthread_cond_destroy(&l->changed);
	pthread_mutex_destroy(&l->lock);
}

void debounce_came(struct debounce *l, size_t weight)
{
	pthread_mutex_lock(&l->lock);
	l->came_ms = clock_ms();
	l->pending_ms = l->pending ? l->pending_ms : l->came_ms;
	l->pending += weight;
	if (l->pending >= l->most)
		pthread_cond_broadcast(&l->changed);
	pthread_mutex_unlock(&l->lock);
}

void debounce_done(struct debounce *l, size_t weight)
{
	pthread_mutex_lock(&l->lock);
	l->pending -= weight;
	pthread_mutex_unlock(&l->lock);
}

// Under the lock.
static int64_t end_ms(const struct debounce *l)
{
	int64_t pause = l->came_ms + l->pause_ms, latest = l->pending_ms + DEBOUNCE_PAUSES * l->pause_ms;
	return pause < latest ? pause : latest;
}

void debounce_wait(struct debounce *l)
{
	pthread_mutex_lock(&l->lock);
	while (!l->is_closed && l->pending < l->most && clock_ms() < end_ms(l))
		clock_wait(&l->changed, &l->lock, end_ms(l));
	pthread_mutex_unlock(&l->lock);
}

void debounce_close(struct debounce *l)
{
	pthread_mutex_lock(&l->lock);
	l->is_closed = true;
	pthread_cond_broadcast(&l->changed);
	pthread_mutex_unlock(&l->lock);
}
