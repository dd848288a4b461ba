// SPDX-License-Identifier: Apache-2.0
#include "indexer/walk/channel.h"

#include <pthread.h>
#include <stdlib.h>

#include "lib/base/mem.h"
#include "lib/os/clock.h"

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
	pthread_mutex_init(&c->lock, NULL);
	clock_cond_init(&c->filled);
	pthread_cond_init(&c->emptied, NULL);
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

void *channel_take(struct channel *c, unsigned timeout_ms, bool *ended)
{
	int64_t end = clock_ms() + timeout_ms;
	void *item = NULL;
	pthread_mutex_lock(&c->lock);
	while (!c->count && !c->closed && clock_wait(&c->filled, &c->lock, end))
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
