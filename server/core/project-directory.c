// SPDX-License-Identifier: Apache-2.0
#include "server/core/project-directory.h"

#include <pthread.h>
#include <search.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/hash.h"
#include "lib/base/mem.h"

struct project_directory {
	pthread_rwlock_t lock;
	void *tree; // of struct project_entry, by name; entries are owned
};

static int compare_entry_names(const void *a, const void *b)
{
	return strcmp(((const struct project_entry *)a)->name, ((const struct project_entry *)b)->name);
}

static void entry_free(void *node)
{
	struct project_entry *p = node;
	free(p->name);
	free(p->place);
	free(p);
}

struct project_directory *project_directory_new(void)
{
	struct project_directory *d = xcalloc(1, sizeof(*d));
	pthread_rwlock_init(&d->lock, NULL);
	return d;
}

void project_directory_free(struct project_directory *d)
{
	if (!d)
		return;
	tdestroy(d->tree, entry_free);
	pthread_rwlock_destroy(&d->lock);
	free(d);
}

void project_directory_cleanup(struct project_directory **d)
{
	project_directory_free(*d);
}

static struct project_entry *find_entry(struct project_directory *d, const char *name)
{
	const struct project_entry wanted = {.name = (char *)(uintptr_t)name};
	struct project_entry *const *found = tfind(&wanted, &d->tree, compare_entry_names);
	return found ? *found : NULL;
}

static struct project_entry *find_or_add(struct project_directory *d, const char *name)
{
	struct project_entry *known = find_entry(d, name);
	if (known)
		return known;
	struct project_entry *fresh = xcalloc(1, sizeof(*fresh));
	fresh->name = xstrdup(name);
	if (!tsearch(fresh, &d->tree, compare_entry_names))
		abort(); // memory is exhausted
	return fresh;
}

void project_directory_put(struct project_directory *d, const char *name, const struct project_place *place)
{
	pthread_rwlock_wrlock(&d->lock);
	struct project_entry *p = find_or_add(d, name);
	size_t i = 0;
	while (i < p->places && p->place[i].platform != place->platform)
		i++;
	if (i == p->places) {
		GROW(p->place, p->places, p->place_room);
		p->places++;
	}
	p->place[i] = *place;
	pthread_rwlock_unlock(&d->lock);
}

void project_directory_replace(struct project_directory *d, struct project_directory *fresh)
{
	pthread_rwlock_wrlock(&d->lock);
	void *old = d->tree;
	d->tree = STEAL_PTR(fresh->tree);
	pthread_rwlock_unlock(&d->lock);
	tdestroy(old, entry_free);
}

struct directory_walk {
	project_entry_fn *fn;
	void *ctx;
};

static void visit_entry(const void *node, VISIT order, void *ctx)
{
	const struct directory_walk *w = ctx;
	if (order == postorder || order == leaf) // the second visit of an inner node is between its branches
		w->fn(w->ctx, *(struct project_entry *const *)node);
}

void project_directory_each(struct project_directory *d, project_entry_fn *fn, void *ctx)
{
	struct directory_walk w = {fn, ctx};
	pthread_rwlock_rdlock(&d->lock);
	twalk_r(d->tree, visit_entry, &w);
	pthread_rwlock_unlock(&d->lock);
}

void project_directory_get(struct project_directory *d, const char *name, project_entry_fn *fn, void *ctx)
{
	pthread_rwlock_rdlock(&d->lock);
	const struct project_entry *p = find_entry(d, name);
	if (p)
		fn(ctx, p);
	pthread_rwlock_unlock(&d->lock);
}

// --- a quick look, without a lock ---

enum { FIRST_SIZE = 1024 };
enum { EMPTY = 0, REMOVED = 1 }; // no hash is one of these

struct table {
	struct table *smaller; // the previous table: a thread may still read it, so it lives as long as the filter
	size_t size;           // a power of two
	size_t used;           // slots that are not EMPTY
	_Atomic uint64_t slot[];
};

struct project_filter {
	struct table *_Atomic table;
};

static uint64_t hash_project(int64_t platform, struct str project)
{
	uint64_t seed = (uint64_t)platform * 0x9e3779b97f4a7c15u;
	return hash_of(project, seed) | 2; // neither EMPTY nor REMOVED
}

static struct table *table_new(size_t size, struct table *smaller)
{
	struct table *t = xcalloc(1, sizeof(*t) + size * sizeof(t->slot[0]));
	t->size = size;
	t->smaller = smaller;
	return t;
}

struct project_filter *project_filter_new(void)
{
	struct project_filter *s = xcalloc(1, sizeof(*s));
	atomic_init(&s->table, table_new(FIRST_SIZE, NULL));
	return s;
}

void project_filter_free(struct project_filter *s)
{
	if (!s)
		return;
	for (struct table *t = atomic_load(&s->table), *next; t; t = next) {
		next = t->smaller;
		free(t);
	}
	free(s);
}

// The slot with the hash, or the empty slot where the search ends.
static size_t find_slot(const struct table *t, uint64_t hash)
{
	size_t at = (hash >> 8) & (t->size - 1);
	for (;; at = (at + 1) & (t->size - 1)) {
		uint64_t here = atomic_load_explicit(&t->slot[at], memory_order_relaxed);
		if (here == hash || here == EMPTY)
			return at;
	}
}

bool project_filter_may_have(const struct project_filter *s, int64_t platform, struct str project)
{
	const struct table *t = atomic_load_explicit(&s->table, memory_order_acquire);
	uint64_t hash = hash_project(platform, project);
	return atomic_load_explicit(&t->slot[find_slot(t, hash)], memory_order_relaxed) == hash;
}

static struct table *grow_table(struct table *old)
{
	struct table *t = table_new(old->size * 2, old);
	for (size_t i = 0; i < old->size; i++) {
		uint64_t hash = atomic_load_explicit(&old->slot[i], memory_order_relaxed);
		if (hash == EMPTY || hash == REMOVED)
			continue;
		atomic_store_explicit(&t->slot[find_slot(t, hash)], hash, memory_order_relaxed);
		t->used++;
	}
	return t;
}

void project_filter_add(struct project_filter *s, int64_t platform, struct str project)
{
	struct table *t = atomic_load_explicit(&s->table, memory_order_relaxed);
	uint64_t hash = hash_project(platform, project);
	if (2 * (t->used + 1) > t->size) {
		t = grow_table(t);
		atomic_store_explicit(&s->table, t, memory_order_release);
	}
	size_t at = find_slot(t, hash);
	if (atomic_load_explicit(&t->slot[at], memory_order_relaxed) == hash)
		return;
	t->used++;
	atomic_store_explicit(&t->slot[at], hash, memory_order_release);
}

void project_filter_remove(struct project_filter *s, int64_t platform, struct str project)
{
	struct table *t = atomic_load_explicit(&s->table, memory_order_relaxed);
	uint64_t hash = hash_project(platform, project);
	size_t at = find_slot(t, hash);
	if (atomic_load_explicit(&t->slot[at], memory_order_relaxed) == hash)
		atomic_store_explicit(&t->slot[at], REMOVED, memory_order_release);
}
