// SPDX-License-Identifier: Apache-2.0
#include "indexer/channel.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "lib/base/mem.h"

struct channel {
	pthread_mutex_t lock;
	pthread_cond_t filled, emptied;
	size_t room, first, count;
	bool closed;
	void *item[];
};

struct channel *channel_new(size_t room)
{
	struct channel *c = xcalloc(1, sizeof(*c) + room * sizeof(c->item[0]));
	pthread_condattr_t monotonic;
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_mutex_init(&c->lock, NULL);
	pthread_cond_init(&c->filled, &monotonic);
	pthread_cond_init(&c->emptied, NULL);
	pthread_condattr_destroy(&monotonic);
	c->room = room;
	return c;
}

void channel_free(struct channel *c)
{
	if (!c)
		return;
	pthread_cond_destroy(&c->filled);
	pthread_cond_destroy(&c->emptied);
	pthread_mutex_destroy(&c->lock);
	free(c);
}

void channel_put(struct channel *c, void *item)
{
	pthread_mutex_lock(&c->lock);
	while (c->count == c->room)
		pthread_cond_wait(&c->emptied, &c->lock);
	c->item[(c->first + c->count++) % c->room] = item;
	pthread_cond_signal(&c->filled);
	pthread_mutex_unlock(&c->lock);
}

void channel_close(struct channel *c)
{
	pthread_mutex_lock(&c->lock);
	c->closed = true;
	pthread_cond_signal(&c->filled);
	pthread_mutex_unlock(&c->lock);
}

static struct timespec after(unsigned ms)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	t.tv_nsec += (long)(ms % 1000) * 1000000;
	t.tv_sec += (time_t)(ms / 1000) + t.tv_nsec / 1000000000;
	t.tv_nsec %= 1000000000;
	return t;
}

void *channel_take(struct channel *c, unsigned timeout_ms, bool *ended)
{
	struct timespec end = after(timeout_ms);
	void *item = NULL;
	pthread_mutex_lock(&c->lock);
	while (!c->count && !c->closed && pthread_cond_timedwait(&c->filled, &c->lock, &end) == 0)
		;
	if (c->count) {
		item = c->item[c->first];
		c->first = (c->first + 1) % c->room;
		c->count--;
		pthread_cond_signal(&c->emptied);
	}
	*ended = !item && c->closed;
	pthread_mutex_unlock(&c->lock);
	return item;
}
