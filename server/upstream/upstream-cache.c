// SPDX-License-Identifier: Apache-2.0
#include "server/upstream/upstream-cache.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/mem.h"
#include "lib/base/str.h"
#include "lib/state/upstream/upstream.h"

enum { BUCKETS = 1024 };

struct entry {
	struct entry *next;          // of its bucket
	struct entry *newer, *older; // by last use
	struct upstream_project *project;
	size_t bytes;
};

struct facts {
	pthread_mutex_t lock;
	size_t most, used;
	uint64_t epoch; // raised by all that takes something away, or puts something newer
	struct entry *bucket[BUCKETS];
	struct entry *newest, *oldest;
};

struct facts *facts_new(size_t bytes)
{
	struct facts *f = xcalloc(1, sizeof(*f));
	f->most = bytes;
	pthread_mutex_init(&f->lock, NULL);
	return f;
}

void facts_free(struct facts *f)
{
	if (!f)
		return;
	facts_clear(f);
	pthread_mutex_destroy(&f->lock);
	free(f);
}

// --- under the lock ---

static struct entry **slot_of(struct facts *f, const char *project)
{
	struct entry **at = &f->bucket[str_hash(str_from(project), 0) % BUCKETS];
	while (*at && strcmp(upstream_project_name((*at)->project), project) != 0)
		at = &(*at)->next;
	return at;
}

static void unlink_use(struct facts *f, struct entry *x)
{
	*(x->newer ? &x->newer->older : &f->newest) = x->older;
	*(x->older ? &x->older->newer : &f->oldest) = x->newer;
}

static void link_newest(struct facts *f, struct entry *x)
{
	x->newer = NULL;
	x->older = f->newest;
	*(f->newest ? &f->newest->newer : &f->oldest) = x;
	f->newest = x;
}

static void remove_at(struct facts *f, struct entry **at)
{
	struct entry *x = *at;
	if (!x)
		return;
	*at = x->next;
	unlink_use(f, x);
	f->used -= x->bytes;
	upstream_project_unref(x->project);
	free(x);
}

// One that is larger than all may be is not taken.
static void insert(struct facts *f, struct upstream_project *p)
{
	if (upstream_project_bytes(p) > f->most)
		return;
	struct entry *x = xcalloc(1, sizeof(*x)), **at = slot_of(f, upstream_project_name(p));
	x->project = upstream_project_ref(p);
	x->bytes = upstream_project_bytes(p);
	*at = x;
	link_newest(f, x);
	f->used += x->bytes;
	while (f->used > f->most)
		remove_at(f, slot_of(f, upstream_project_name(f->oldest->project)));
}

// --- calls ---

struct upstream_project *facts_get(struct facts *f, const char *project)
{
	pthread_mutex_lock(&f->lock);
	struct entry *x = *slot_of(f, project);
	struct upstream_project *found = x ? upstream_project_ref(x->project) : NULL;
	if (x) {
		unlink_use(f, x);
		link_newest(f, x);
	}
	pthread_mutex_unlock(&f->lock);
	return found;
}

void facts_put(struct facts *f, struct upstream_project *p)
{
	pthread_mutex_lock(&f->lock);
	f->epoch++;
	remove_at(f, slot_of(f, upstream_project_name(p)));
	insert(f, p);
	pthread_mutex_unlock(&f->lock);
}

uint64_t facts_epoch(struct facts *f)
{
	pthread_mutex_lock(&f->lock);
	uint64_t epoch = f->epoch;
	pthread_mutex_unlock(&f->lock);
	return epoch;
}

void facts_add(struct facts *f, struct upstream_project *p, uint64_t epoch)
{
	pthread_mutex_lock(&f->lock);
	if (f->epoch == epoch && !*slot_of(f, upstream_project_name(p)))
		insert(f, p);
	pthread_mutex_unlock(&f->lock);
}

bool facts_keep_up(struct facts *f, const char *project, int64_t changed)
{
	pthread_mutex_lock(&f->lock);
	struct entry **at = slot_of(f, project);
	bool is_new = *at && upstream_project_changed((*at)->project) >= changed;
	if (!is_new) {
		f->epoch++;
		remove_at(f, at);
	}
	pthread_mutex_unlock(&f->lock);
	return is_new;
}

void facts_clear(struct facts *f)
{
	pthread_mutex_lock(&f->lock);
	f->epoch++;
	while (f->oldest)
		remove_at(f, slot_of(f, upstream_project_name(f->oldest->project)));
	pthread_mutex_unlock(&f->lock);
}
