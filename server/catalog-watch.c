// SPDX-License-Identifier: Apache-2.0
#include "server/catalog-watch.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/limits.h"
#include "lib/base/log.h"
#include "lib/os/clock.h"
#include "lib/state/catalog/catalog-upstream.h"
#include "lib/state/upstream/owned-names.h"
#include "server/core/page-key.h"
#include "server/upstream/name-guard.h"
#include "server/upstream/upstream-pages.h"

enum {
	POLL_MS = 200,
	SWEEP_MS = 1000, // files that nobody asked for in the last second are let go of
};

struct catalog_watch {
	struct server_context *context;
	struct catalog_lease reader;
	struct project_filter *gone; // projects that had files once
	int64_t seen, seen_upstream; // numbers of the newest changes known here
	struct buf wondering;        // projects that are new here, each with a NUL
	bool is_failing;             // and has said so
	pthread_t thread;
	atomic_bool reopen, stop;
};

struct batch {
	struct catalog_watch *follow;
	bool is_anew;     // all there is, and every page is dropped at the end
	bool names_moved; // a project came or went
};

// Whose a new name is depends on whether upstream knows it already. What only private platforms have nobody asks for.
static void wonder(struct catalog_watch *f, const char *project)
{
	struct server_context *s = f->context;
	if (s->upstream_pages && name_rules_find(&server_context_site(s)->rules, project) == NAME_RULE_MERGE &&
		!owned_names_has(s->owned_names, project))
		buf_add(&f->wondering, project, strlen(project) + 1);
}

static void ask_upstream(struct catalog_watch *f)
{
	struct str rest = buf_view(&f->wondering);
	while (rest.len) {
		struct err e = ERR_INIT;
		struct name_presence here;
		const char *project = str_cut(&rest, '\0').ptr;
		int looked = name_guard_look(f->context, f->reader.catalog, project, &here, &e);
		if (looked == 0 && here.is_open)
			looked = upstream_pages_probe(f->context->upstream_pages, f->reader.catalog, project,
				here.arrived, &e);
		if (looked < 0)
			log_error("upstream is not asked whether it knows a new project: %s", e.msg);
	}
	buf_clear(&f->wondering);
}

static int apply(void *ctx, const struct catalog_project *p, struct err *e)
{
	(void)e;
	struct batch *b = ctx;
	struct catalog_watch *f = b->follow;
	struct str name = str_from(p->project);
	bool was_known = project_filter_may_have(f->context->project_filter, p->platform, name);
	bool was_gone = project_filter_may_have(f->gone, p->platform, name);
	if (p->files)
		project_filter_add(f->context->project_filter, p->platform, name);
	if (p->files && was_gone)
		project_filter_remove(f->gone, p->platform, name);
	else if (!p->files)
		project_filter_add(f->gone, p->platform, name);
	b->names_moved |= !was_known || was_gone || !p->files;
	if (p->files && (!was_known || was_gone))
		wonder(f, p->project);
	if (!b->is_anew)
		page_key_drop_project(f->context, p->project);
	return 0;
}

// What this server asked for itself is on its pages before it is in the catalog.
static int apply_upstream(void *ctx, const char *project, int64_t changed, struct err *e UNUSED)
{
	struct batch *b = ctx;
	struct server_context *s = b->follow->context;
	if (!b->is_anew && !(s->upstream_pages && upstream_pages_note_change(s->upstream_pages, project, changed)))
		page_key_drop_project(s, project);
	return 0;
}

static int count_totals(struct catalog_watch *f, struct err *e)
{
	struct server_context *s = f->context;
	const struct site *site = server_context_site(s);
	size_t count = site->store.platform_count;
	CLEANUP(mem_free) struct catalog_totals *fresh = xcalloc(count, sizeof(*fresh));
	for (size_t i = 0; i < count; i++)
		if (catalog_totals(f->reader.catalog, site->store.platform[i].id, &fresh[i], e) < 0)
			return -1;
	pthread_mutex_lock(&s->totals_lock);
	free(s->totals);
	s->totals = STEAL_PTR(fresh);
	s->totals_count = count;
	pthread_mutex_unlock(&s->totals_lock);
	return 0;
}

// Names first, pages after: a page asked for in between is made from what the catalog says now.
static int catch_up(struct catalog_watch *f, bool is_anew, uint32_t count, struct err *e)
{
	struct batch b = {.follow = f, .is_anew = is_anew};
	if (catalog_changes(f->reader.catalog, f->seen, apply, &b, &f->seen, e) < 0 ||
		catalog_upstream_changes(f->reader.catalog, f->seen_upstream, apply_upstream, &b, &f->seen_upstream,
			e) < 0)
		return -1;
	atomic_store_explicit(&f->context->project_filter_is_complete, true, memory_order_release);
	if (is_anew && f->context->upstream_pages)
		upstream_pages_clear(f->context->upstream_pages);
	if (is_anew)
		pagecache_clear(f->context->pagecache);
	else if (b.names_moved)
		page_key_drop_lists(f->context);
	server_context_set_current(f->context, count);
	ask_upstream(f);
	return count_totals(f, e);
}

// All from the beginning, also from another file where the catalog was removed and made again. The new connection comes
// before the old one goes: without any, SQLite would write its log into the catalog and remove it.
static int open_anew(struct catalog_watch *f, struct err *e)
{
	struct catalog_lease before = f->reader;
	f->seen = f->seen_upstream = 0;
	atomic_store(&f->reopen, false);
	int taken = catalog_pool_take(f->context->catalog_pool, &f->reader, e);
	catalog_pool_give(f->context->catalog_pool, &before);
	if (taken < 0)
		return -1;
	changes_renew(f->context->changes);
	uint32_t count = changes_read(f->context->changes);
	catalog_was_written(f->reader.catalog); // from here on
	return catch_up(f, true, count, e);
}

// The count is read first: what is committed after that comes with the next one.
static int look(struct catalog_watch *f, uint32_t count, struct err *e)
{
	if (atomic_load(&f->reopen) || f->is_failing)
		return open_anew(f, e);
	if (catalog_was_written(f->reader.catalog))
		return catch_up(f, false, count, e);
	server_context_set_current(f->context, count);
	return 0;
}

// After an error all is read again, until it goes well. Meanwhile what is in memory is as good as it gets.
static void follow(struct catalog_watch *f, uint32_t count)
{
	struct err e = ERR_INIT;
	int result = look(f, count, &e);
	if (result < 0)
		server_context_set_current(f->context, count);
	if (result < 0 && !f->is_failing)
		log_error("cannot follow the catalog: %s", e.msg);
	f->is_failing = result < 0;
}

// What others commit raises the count. Where there is none, or somebody died before he could raise it, the catalog
// itself is asked now and then.
static void *run(void *ctx)
{
	struct catalog_watch *f = ctx;
	struct server_context *s = f->context;
	for (int64_t swept_ms = clock_ms(); !atomic_load(&f->stop);) {
		uint32_t count = changes_read(s->changes);
		follow(f, count);
		if (clock_ms() - swept_ms >= SWEEP_MS) {
			pagecache_sweep(s->pagecache);
			if (s->owned_names)
				owned_names_look(s->owned_names); // the operator may have changed the file
			swept_ms = clock_ms();
		}
		changes_wait(s->changes, count, POLL_MS);
	}
	return NULL;
}

static void follow_free(struct catalog_watch *f)
{
	catalog_pool_give(f->context->catalog_pool, &f->reader);
	project_filter_free(f->gone);
	buf_release(&f->wondering);
	free(f);
}

struct catalog_watch *catalog_watch_start(struct server_context *s, struct err *e)
{
	struct catalog_watch *f = xcalloc(1, sizeof(*f));
	f->context = s;
	f->gone = project_filter_new();
	buf_init(&f->wondering, LIMIT_OWNED_NAMES);
	if (open_anew(f, e) < 0) {
		follow_free(f);
		return NULL;
	}
	if (pthread_create(&f->thread, NULL, run, f) != 0)
		abort();
	return f;
}

// The thread is woken by the count, as by a commit.
void catalog_watch_reopen(struct catalog_watch *f)
{
	atomic_store(&f->reopen, true);
	changes_raise(f->context->changes);
}

void catalog_watch_stop(struct catalog_watch *f)
{
	if (!f)
		return;
	atomic_store(&f->stop, true);
	changes_raise(f->context->changes);
	pthread_join(f->thread, NULL);
	follow_free(f);
}
