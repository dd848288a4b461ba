// SPDX-License-Identifier: Apache-2.0
#include "server/readers.h"

#include <pthread.h>
#include <stdlib.h>

#include "lib/state/catalog.h"

struct readers {
	pthread_mutex_t lock;
	char *path;
	struct catalog **idle;
	size_t count, room;
};

struct readers *readers_new(const char *catalog_path)
{
	struct readers *r = xcalloc(1, sizeof(*r));
	pthread_mutex_init(&r->lock, NULL);
	r->path = xstrdup(catalog_path);
	return r;
}

void readers_free(struct readers *r)
{
	if (!r)
		return;
	while (r->count)
		catalog_close(r->idle[--r->count]);
	pthread_mutex_destroy(&r->lock);
	free(r->idle);
	free(r->path);
	free(r);
}

struct catalog *readers_take(struct readers *r, struct err *e)
{
	struct catalog *c = NULL;
	pthread_mutex_lock(&r->lock);
	if (r->count)
		c = r->idle[--r->count];
	pthread_mutex_unlock(&r->lock);
	if (!c && catalog_open(r->path, &c, e) < 0)
		return NULL;
	return c;
}

void readers_give(struct readers *r, struct catalog *c)
{
	pthread_mutex_lock(&r->lock);
	GROW(r->idle, r->count, r->room);
	r->idle[r->count++] = c;
	pthread_mutex_unlock(&r->lock);
}
