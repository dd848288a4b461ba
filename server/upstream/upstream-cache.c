// SPDX-License-Identifier: Apache-2.0
#include "server/upstream/upstream-cache.h"

#include <pthread.h>
#include <stdlib.h>

#include "lib/base/hash.h"
#include "lib/base/lru.h"
#include "lib/base/mem.h"
#include "lib/base/str.h"
#include "lib/state/upstream/upstream.h"

struct cached_project {
	struct lru_entry lru; // its key is the project's name
	struct upstream_project *project;
};

struct upstream_cache {
	pthread_mutex_t lock;
	size_t most;
	uint64_t epoch; // raised by each removal, and by each newer answer
	struct lru lru;
};

struct upstream_cache *upstream_cache_new(size_t bytes)
{
	struct upstream_cache *c = xcalloc(1, sizeof(*c));
	c->most = bytes;
	pthread_mutex_init(&c->lock, NULL);
	return c;
}

void upstream_cache_free(struct upstream_cache *c)
{
	if (!c)
		return;
	upstream_cache_clear(c);
	lru_release(&c->lru);
	pthread_mutex_destroy(&c->lock);
	free(c);
}

// --- with the lock held ---

static struct cached_project *find_project(const struct upstream_cache *c, const char *project)
{
	struct str key = str_from(project);
	return (struct cached_project *)lru_find(&c->lru, hash_of(key, 0), key);
}

static void free_removed(struct lru_entry *e)
{
	struct cached_project *x = (struct cached_project *)e;
	upstream_project_unref(x->project);
	free(x);
}

// NULL is fine.
static void remove_project(struct upstream_cache *c, struct cached_project *x)
{
	if (!x)
		return;
	lru_remove(&c->lru, &x->lru);
	free_removed(&x->lru);
}

static void evict_projects(struct upstream_cache *c, size_t limit)
{
	struct lru_entry *e;
	while ((e = lru_evict(&c->lru, limit)))
		free_removed(e);
}

// Does nothing if the project is larger than the whole cache.
static void insert_project(struct upstream_cache *c, struct upstream_project *p)
{
	if (upstream_project_bytes(p) > c->most)
		return;
	struct cached_project *x = xcalloc(1, sizeof(*x));
	x->project = upstream_project_ref(p);
	x->lru.key = str_from(upstream_project_name(p));
	x->lru.hash = hash_of(x->lru.key, 0);
	x->lru.weight = upstream_project_bytes(p);
	lru_add(&c->lru, &x->lru);
	evict_projects(c, c->most);
}

// --- calls ---

struct upstream_project *upstream_cache_get(struct upstream_cache *c, const char *project)
{
	pthread_mutex_lock(&c->lock);
	struct cached_project *x = find_project(c, project);
	struct upstream_project *found = x ? upstream_project_ref(x->project) : NULL;
	if (x)
		lru_touch(&c->lru, &x->lru);
	pthread_mutex_unlock(&c->lock);
	return found;
}

void upstream_cache_put(struct upstream_cache *c, struct upstream_project *p)
{
	pthread_mutex_lock(&c->lock);
	c->epoch++;
	remove_project(c, find_project(c, upstream_project_name(p)));
	insert_project(c, p);
	pthread_mutex_unlock(&c->lock);
}

uint64_t upstream_cache_epoch(struct upstream_cache *c)
{
	pthread_mutex_lock(&c->lock);
	uint64_t epoch = c->epoch;
	pthread_mutex_unlock(&c->lock);
	return epoch;
}

void upstream_cache_add(struct upstream_cache *c, struct upstream_project *p, uint64_t epoch)
{
	pthread_mutex_lock(&c->lock);
	if (c->epoch == epoch && !find_project(c, upstream_project_name(p)))
		insert_project(c, p);
	pthread_mutex_unlock(&c->lock);
}

bool upstream_cache_note_change(struct upstream_cache *c, const char *project, int64_t changed)
{
	pthread_mutex_lock(&c->lock);
	struct cached_project *x = find_project(c, project);
	bool is_current = x && upstream_project_changed(x->project) >= changed;
	if (!is_current) {
		c->epoch++;
		remove_project(c, x);
	}
	pthread_mutex_unlock(&c->lock);
	return is_current;
}

void upstream_cache_clear(struct upstream_cache *c)
{
	pthread_mutex_lock(&c->lock);
	c->epoch++;
	evict_projects(c, 0);
	pthread_mutex_unlock(&c->lock);
}
