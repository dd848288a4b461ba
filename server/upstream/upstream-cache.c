// SPDX-License-Identifier: Apache-2.0
#include "server/upstream/upstream-cache.h"

#include <pthread.h>
#include <stdlib.h>

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
	uint64_t epoch; // raised by all that takes something away, or puts something newer
	struct lru lru;
};

struct upstream_cache *upstream_cache_new(size_t bytes)
{
	struct upstream_cache *f = xcalloc(1, sizeof(*f));
	f->most = bytes;
	pthread_mutex_init(&f->lock, NULL);
	return f;
}

void upstream_cache_free(struct upstream_cache *f)
{
	if (!f)
		return;
	upstream_cache_clear(f);
	pthread_mutex_destroy(&f->lock);
	free(f);
}

// --- under the lock ---

static struct cached_project *find_project(const struct upstream_cache *f, const char *project)
{
	struct str key = str_from(project);
	return (struct cached_project *)lru_find(&f->lru, str_hash(key, 0), key);
}

static void free_removed(struct lru_entry *e)
{
	struct cached_project *x = (struct cached_project *)e;
	upstream_project_unref(x->project);
	free(x);
}

// NULL is fine.
static void remove_project(struct upstream_cache *f, struct cached_project *x)
{
	if (!x)
		return;
	lru_remove(&f->lru, &x->lru);
	free_removed(&x->lru);
}

static void evict(struct upstream_cache *f, size_t limit)
{
	struct lru_entry *e;
	while ((e = lru_evict(&f->lru, limit)))
		free_removed(e);
}

// One that is larger than all may be is not taken.
static void insert(struct upstream_cache *f, struct upstream_project *p)
{
	if (upstream_project_bytes(p) > f->most)
		return;
	struct cached_project *x = xcalloc(1, sizeof(*x));
	x->project = upstream_project_ref(p);
	x->lru.key = str_from(upstream_project_name(p));
	x->lru.hash = str_hash(x->lru.key, 0);
	x->lru.weight = upstream_project_bytes(p);
	lru_add(&f->lru, &x->lru);
	evict(f, f->most);
}

// --- calls ---

struct upstream_project *upstream_cache_get(struct upstream_cache *f, const char *project)
{
	pthread_mutex_lock(&f->lock);
	struct cached_project *x = find_project(f, project);
	struct upstream_project *found = x ? upstream_project_ref(x->project) : NULL;
	if (x)
		lru_touch(&f->lru, &x->lru);
	pthread_mutex_unlock(&f->lock);
	return found;
}

void upstream_cache_put(struct upstream_cache *f, struct upstream_project *p)
{
	pthread_mutex_lock(&f->lock);
	f->epoch++;
	remove_project(f, find_project(f, upstream_project_name(p)));
	insert(f, p);
	pthread_mutex_unlock(&f->lock);
}

uint64_t upstream_cache_epoch(struct upstream_cache *f)
{
	pthread_mutex_lock(&f->lock);
	uint64_t epoch = f->epoch;
	pthread_mutex_unlock(&f->lock);
	return epoch;
}

void upstream_cache_add(struct upstream_cache *f, struct upstream_project *p, uint64_t epoch)
{
	pthread_mutex_lock(&f->lock);
	if (f->epoch == epoch && !find_project(f, upstream_project_name(p)))
		insert(f, p);
	pthread_mutex_unlock(&f->lock);
}

bool upstream_cache_keep_up(struct upstream_cache *f, const char *project, int64_t changed)
{
	pthread_mutex_lock(&f->lock);
	struct cached_project *x = find_project(f, project);
	bool is_new = x && upstream_project_changed(x->project) >= changed;
	if (!is_new) {
		f->epoch++;
		remove_project(f, x);
	}
	pthread_mutex_unlock(&f->lock);
	return is_new;
}

void upstream_cache_clear(struct upstream_cache *f)
{
	pthread_mutex_lock(&f->lock);
	f->epoch++;
	evict(f, 0);
	pthread_mutex_unlock(&f->lock);
}
