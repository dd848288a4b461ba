// SPDX-License-Identifier: Apache-2.0
#include "server/core/catalog-pool.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#include "lib/state/catalog/catalog.h"

struct catalog_pool {
	pthread_mutex_t lock;
	char *path;
	unsigned generation; // of connections that are opened now
	struct catalog_lease *idle;
	size_t count, room;
};

struct catalog_pool *catalog_pool_new(const char *catalog_path)
{
	struct catalog_pool *r = xcalloc(1, sizeof(*r));
	pthread_mutex_init(&r->lock, NULL);
	r->path = xstrdup(catalog_path);
	return r;
}

void catalog_pool_free(struct catalog_pool *r)
{
	if (!r)
		return;
	while (r->count)
		catalog_close(r->idle[--r->count].catalog);
	pthread_mutex_destroy(&r->lock);
	free(r->idle);
	free(r->path);
	free(r);
}

int catalog_pool_take(struct catalog_pool *r, struct catalog_lease *out, struct err *e)
{
	*out = (struct catalog_lease){0};
	pthread_mutex_lock(&r->lock);
	out->generation = r->generation;
	if (r->count)
		*out = r->idle[--r->count];
	pthread_mutex_unlock(&r->lock);
	return out->catalog ? 0 : catalog_open(r->path, &out->catalog, e);
}

void catalog_pool_give(struct catalog_pool *r, struct catalog_lease *lease)
{
	bool kept = false;
	pthread_mutex_lock(&r->lock);
	if (lease->catalog && lease->generation == r->generation && !catalog_has_failed(lease->catalog)) {
		GROW(r->idle, r->count, r->room);
		r->idle[r->count++] = *lease;
		kept = true;
	}
	pthread_mutex_unlock(&r->lock);
	if (!kept)
		catalog_close(lease->catalog);
	lease->catalog = NULL;
}

void catalog_pool_renew(struct catalog_pool *r)
{
	pthread_mutex_lock(&r->lock);
	r->generation++;
	while (r->count)
		catalog_close(r->idle[--r->count].catalog);
	pthread_mutex_unlock(&r->lock);
}
