// SPDX-License-Identifier: Apache-2.0
#include "server/core/catalog-pool.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "lib/state/catalog/catalog.h"

struct catalog_pool {
	pthread_mutex_t lock;
	char *path;
	unsigned generation; // of connections that are opened now
	ino_t inode;         // of the file that they are to; 0: none was opened
	struct catalog_lease *idle;
	size_t count, room;
};

// 0: there is none.
static ino_t inode_now(const struct catalog_pool *r)
{
	struct stat now;
	return stat(r->path, &now) == 0 ? now.st_ino : 0;
}

struct catalog_pool *catalog_pool_new(const char *catalog_path)
{
	struct catalog_pool *r = xcalloc(1, sizeof(*r));
	pthread_mutex_init(&r->lock, NULL);
	r->path = xstrdup(catalog_path);
	r->inode = inode_now(r);
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

// A catalog that was removed is made again by a scan. Until that has ended it lacks files that the other connections
// have.
static int check_inode(struct catalog_pool *r, struct err *e)
{
	ino_t now = inode_now(r);
	pthread_mutex_lock(&r->lock);
	r->inode = r->inode ? r->inode : now;
	bool is_other = r->inode != now;
	pthread_mutex_unlock(&r->lock);
	return is_other ? err_set(e, ERR_BUSY, "the catalog was removed, and is being made again") : 0;
}

static int open_new(struct catalog_pool *r, struct catalog_lease *out, struct err *e)
{
	CLEANUP(catalog_cleanup) struct catalog *c = NULL;
	if (check_inode(r, e) < 0 || catalog_open(r->path, &c, e) < 0 || check_inode(r, e) < 0)
		return -1;
	out->catalog = STEAL_PTR(c);
	return 0;
}

int catalog_pool_take(struct catalog_pool *r, struct catalog_lease *out, struct err *e)
{
	*out = (struct catalog_lease){0};
	pthread_mutex_lock(&r->lock);
	out->generation = r->generation;
	if (r->count)
		*out = r->idle[--r->count];
	pthread_mutex_unlock(&r->lock);
	return out->catalog ? 0 : open_new(r, out, e);
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
	ino_t now = inode_now(r);
	pthread_mutex_lock(&r->lock);
	r->generation++;
	r->inode = now ? now : r->inode;
	while (r->count)
		catalog_close(r->idle[--r->count].catalog);
	pthread_mutex_unlock(&r->lock);
}
