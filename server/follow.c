// SPDX-License-Identifier: Apache-2.0
#include "server/follow.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "lib/base/log.h"
#include "lib/state/catalog.h"
#include "server/simple.h"

enum {
	POLL_MS = 200,
	POLLS_A_SWEEP = 5, // files that nobody asked for in the last second are let go of
};

struct follow {
	struct service *service;
	struct catalog *catalog;
	int64_t seen; // number of the newest change known here
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t wake;
	bool recount, stop;
};

struct batch {
	struct service *service;
	bool first;       // nothing can have been rendered yet
	bool names_moved; // a project came or went
};

static int apply(void *ctx, const struct catalog_project *p, struct err *e)
{
	(void)e;
	struct batch *b = ctx;
	struct nameset *names = b->service->names;
	struct str name = str_from(p->project);
	bool known = nameset_may_have(names, p->platform, name);
	if (p->files && !known)
		nameset_add(names, p->platform, name);
	else if (!p->files && known)
		nameset_remove(names, p->platform, name);
	b->names_moved |= known != (p->files > 0);
	if (!b->first)
		simple_drop_project(b->service, p->project);
	return 0;
}

static int count_totals(struct follow *f, struct err *e)
{
	struct service *s = f->service;
	const struct site *site = service_site(s);
	size_t count = site->store.platform_count;
	CLEANUP(mem_free) struct catalog_totals *fresh = xcalloc(count, sizeof(*fresh));
	for (size_t i = 0; i < count; i++)
		if (catalog_totals(f->catalog, site->store.platform[i].id, &fresh[i], e) < 0)
			return -1;
	pthread_mutex_lock(&s->totals_lock);
	free(s->totals);
	s->totals = STEAL_PTR(fresh);
	s->totals_count = count;
	pthread_mutex_unlock(&s->totals_lock);
	return 0;
}

// Names first, pages after: a page asked for in between is made from what the catalog says now.
static int catch_up(struct follow *f, bool first, struct err *e)
{
	struct batch b = {.service = f->service, .first = first};
	if (catalog_changes(f->catalog, f->seen, apply, &b, &f->seen, e) < 0)
		return -1;
	atomic_store_explicit(&f->service->names_known, true, memory_order_release);
	if (b.names_moved && !first)
		simple_drop_roots(f->service);
	return count_totals(f, e);
}

static void look(struct follow *f)
{
	struct err e = ERR_INIT;
	if (!catalog_was_written(f->catalog) && !f->recount)
		return;
	f->recount = false;
	if (catch_up(f, false, &e) < 0) {
		log_error("cannot follow the catalog: %s", e.msg);
		f->recount = true; // at the next look
	}
}

static void *run(void *ctx)
{
	struct follow *f = ctx;
	pthread_mutex_lock(&f->lock);
	for (unsigned polls = 0; !f->stop; polls++) {
		struct timespec until;
		clock_gettime(CLOCK_REALTIME, &until);
		until.tv_nsec += POLL_MS * 1000000L;
		until.tv_sec += until.tv_nsec / 1000000000L;
		until.tv_nsec %= 1000000000L;
		pthread_cond_timedwait(&f->wake, &f->lock, &until);
		look(f);
		if (polls % POLLS_A_SWEEP == 0)
			pagecache_sweep(f->service->cache);
	}
	pthread_mutex_unlock(&f->lock);
	return NULL;
}

static void follow_free(struct follow *f)
{
	if (f->catalog)
		readers_give(f->service->readers, f->catalog);
	pthread_cond_destroy(&f->wake);
	pthread_mutex_destroy(&f->lock);
	free(f);
}

struct follow *follow_start(struct service *s, struct err *e)
{
	struct follow *f = xcalloc(1, sizeof(*f));
	f->service = s;
	pthread_mutex_init(&f->lock, NULL);
	pthread_cond_init(&f->wake, NULL);
	f->catalog = readers_take(s->readers, e);
	bool written = f->catalog && catalog_was_written(f->catalog); // from here on
	(void)written;
	if (!f->catalog || catch_up(f, true, e) < 0) {
		follow_free(f);
		return NULL;
	}
	if (pthread_create(&f->thread, NULL, run, f) != 0)
		abort();
	return f;
}

void follow_recount(struct follow *f)
{
	pthread_mutex_lock(&f->lock);
	f->recount = true;
	pthread_cond_signal(&f->wake);
	pthread_mutex_unlock(&f->lock);
}

void follow_stop(struct follow *f)
{
	if (!f)
		return;
	pthread_mutex_lock(&f->lock);
	f->stop = true;
	pthread_cond_signal(&f->wake);
	pthread_mutex_unlock(&f->lock);
	pthread_join(f->thread, NULL);
	follow_free(f);
}
