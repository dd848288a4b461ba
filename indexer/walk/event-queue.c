// SPDX-License-Identifier: Apache-2.0
#include "indexer/walk/event-queue.h"

#include <pthread.h>
#include <stdlib.h>

#include "lib/base/mem.h"
#include "lib/os/clock.h"

struct event_queue {
	pthread_mutex_t lock;
	pthread_cond_t filled, emptied;
	size_t room, first, count;
	bool closed;
	void *item[];
};

struct event_queue *event_queue_new(size_t room)
{
	struct event_queue *q = xcalloc(1, sizeof(*q) + room * sizeof(q->item[0]));
	pthread_mutex_init(&q->lock, NULL);
	clock_cond_init(&q->filled);
	pthread_cond_init(&q->emptied, NULL);
	q->room = room;
	return q;
}

void event_queue_free(struct event_queue *q)
{
	if (!q)
		return;
	pthread_cond_destroy(&q->filled);
	pthread_cond_destroy(&q->emptied);
	pthread_mutex_destroy(&q->lock);
	free(q);
}

void event_queue_put(struct event_queue *q, void *item)
{
	pthread_mutex_lock(&q->lock);
	while (q->count == q->room)
		pthread_cond_wait(&q->emptied, &q->lock);
	q->item[(q->first + q->count++) % q->room] = item;
	pthread_cond_signal(&q->filled);
	pthread_mutex_unlock(&q->lock);
}

void event_queue_close(struct event_queue *q)
{
	pthread_mutex_lock(&q->lock);
	q->closed = true;
	pthread_cond_signal(&q->filled);
	pthread_mutex_unlock(&q->lock);
}

void *event_queue_take(struct event_queue *q, unsigned timeout_ms, bool *ended)
{
	int64_t end = clock_ms() + timeout_ms;
	void *item = NULL;
	pthread_mutex_lock(&q->lock);
	while (!q->count && !q->closed && clock_wait(&q->filled, &q->lock, end))
		;
	if (q->count) {
		item = q->item[q->first];
		q->first = (q->first + 1) % q->room;
		q->count--;
		pthread_cond_signal(&q->emptied);
	}
	*ended = !item && q->closed;
	pthread_mutex_unlock(&q->lock);
	return item;
}
