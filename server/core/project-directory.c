// SPDX-License-Identifier: Apache-2.0
#include "server/core/project-directory.h"

#include <pthread.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

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

static void put_place(struct project_entry *p, const struct project_place *place)
{
	size_t i = 0;
	while (i < p->places && p->place[i].platform != place->platform)
		i++;
	if (i == p->places) {
		GROW(p->place, p->places, p->place_room);
		p->places++;
	}
	p->place[i] = *place;
}

void project_directory_put(struct project_directory *d, const char *name, const struct project_place *place)
{
	pthread_rwlock_wrlock(&d->lock);
	put_place(find_or_add(d, name), place);
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
