// SPDX-License-Identifier: Apache-2.0
#include "server/upstream/upstream-cache.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/mem.h"
#include "lib/base/str.h"
#include "lib/state/upstream/upstream.h"

enum { BUCKETS = 1024 };

struct plan_entry {
	struct plan_entry *next;          // of its bucket
	struct plan_entry *newer, *older; // by last use
	struct upstream_project *project;
	size_t bytes;
};

struct upstream_cache {
	pthread_mutex_t lock;
	size_t most, used;
	uint64_t epoch; // raised by all that takes something away, or puts something newer
	struct plan_entry *bucket[BUCKETS];
	struct plan_entry *newest, *oldest;
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

static struct plan_entry **slot_of(struct upstream_cache *f, const char *project)
{
	struct plan_entry **at = &f->bucket[str_hash(str_from(project), 0) % BUCKETS];
	while (*at && strcmp(upstream_project_name((*at)->project), project) != 0)
		at = &(*at)->next;
	return at;
}

static void unlink_use(struct upstream_cache *f, struct plan_entry *x)
{
	*(x->newer ? &x->newer->older : &f->newest) = x->older;
	*(x->older ? &x->older->newer : &f->oldest) = x->newer;
}

static void link_newest(struct upstream_cache *f, struct plan_entry *x)
{
	x->newer = NULL;
	x->older = f->newest;
	*(f->newest ? &f->newest->newer : &f->oldest) = x;
	f->newest = x;
}

static void remove_at(struct upstream_cache *f, struct plan_entry **at)
{
	struct plan_entry *x = *at;
	if (!x)
		return;
	*at = x->next;
	unlink_use(f, x);
	f->used -= x->bytes;
	upstream_project_unref(x->project);
	free(x);
}

// One that is larger than all may be is not taken.
static void insert(struct upstream_cache *f, struct upstream_project *p)
{
	if (upstream_project_bytes(p) > f->most)
		return;
	struct plan_entry *x = xcalloc(1, sizeof(*x)), **at = slot_of(f, upstream_project_name(p));
	x->project = upstream_project_ref(p);
	x->bytes = upstream_project_bytes(p);
	*at = x;
	link_newest(f, x);
	f->used += x->bytes;
	while (f->used > f->most)
		remove_at(f, slot_of(f, upstream_project_name(f->oldest->project)));
}

// --- calls ---

struct upstream_project *upstream_cache_get(struct upstream_cache *f, const char *project)
{
	pthread_mutex_lock(&f->lock);
	struct plan_entry *x = *slot_of(f, project);
	struct upstream_project *found = x ? upstream_project_ref(x->project) : NULL;
	if (x) {
		unlink_use(f, x);
		link_newest(f, x);
	}
	pthread_mutex_unlock(&f->lock);
	return found;
}

void upstream_cache_put(struct upstream_cache *f, struct upstream_project *p)
{
	pthread_mutex_lock(&f->lock);
	f->epoch++;
	remove_at(f, slot_of(f, upstream_project_name(p)));
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
	if (f->epoch == epoch && !*slot_of(f, upstream_project_name(p)))
		insert(f, p);
	pthread_mutex_unlock(&f->lock);
}

bool upstream_cache_keep_up(struct upstream_cache *f, const char *project, int64_t changed)
{
	pthread_mutex_lock(&f->lock);
	struct plan_entry **at = slot_of(f, project);
	bool is_new = *at && upstream_project_changed((*at)->project) >= changed;
	if (!is_new) {
		f->epoch++;
		remove_at(f, at);
	}
	pthread_mutex_unlock(&f->lock);
	return is_new;
}

void upstream_cache_clear(struct upstream_cache *f)
{
	pthread_mutex_lock(&f->lock);
	f->epoch++;
	while (f->oldest)
		remove_at(f, slot_of(f, upstream_project_name(f->oldest->project)));
	pthread_mutex_unlock(&f->lock);
}
