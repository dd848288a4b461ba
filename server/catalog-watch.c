// SPDX-License-Identifier: Apache-2.0
#include "server/catalog-watch.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/base/limits.h"
#include "lib/base/log.h"
#include "lib/os/clock.h"
#include "lib/state/access/audit.h"
#include "lib/state/catalog/catalog-upstream.h"
#include "lib/state/upstream/holds.h"
#include "lib/state/upstream/owned-names.h"
#include "server/core/simple-pages.h"
#include "server/core/store-scans.h"
#include "server/upstream/name-guard.h"
#include "server/upstream/upstream-pages.h"

enum {
	POLL_MS = 200,
	LOOK_MS = 400,   // a hold, a waiver, a line of a list take effect
	SWEEP_MS = 1000, // drops expired replies and reads the file of owned names again
};

struct catalog_watch {
	struct server_context *context;
	struct catalog_lease lease;
	struct project_filter *removed_projects;   // projects that had files before
	int64_t last_change, last_upstream_change; // numbers of the last changes that were applied
	struct buf new_projects;                   // names of projects that are new, each with a NUL
	bool is_failing;                           // an error was logged
	char *path;                                // of the catalog
	ino_t inode;                               // of the file there; 0: there is none
	pthread_t thread;
	atomic_bool reopen, stop;
};

struct change_batch {
	struct catalog_watch *watch;
	bool is_reopened;                    // all projects are read, and all pages dropped in the end
	struct project_directory *directory; // that gets the projects
	bool lists_changed;                  // a project appeared or disappeared
	int64_t since;                       // number of the last change before
	bool status_changed;                 // of a project: files of upstream by URL depend on it too
};

// Whether a view before this one merges the same.
static bool is_order_before(const struct site *site, size_t view)
{
	for (size_t i = 0; i < view; i++)
		if (memcmp(&site->view[i].upstreams, &site->view[view].upstreams, sizeof(site->view[i].upstreams)) == 0)
			return true;
	return false;
}

// The owner of a new name depends on whether the upstreams have it already, so they are asked.
static int probe_order(struct catalog_watch *w, const struct config_order *order, const char *project, struct err *e)
{
	struct name_guard g;
	if (name_guard_begin(&g, w->context, w->lease.catalog, NULL, order, project, e) < 0)
		return -1;
	const struct config_order admitted = g.order;
	g.order.count = 0;
	for (size_t i = 0; i < admitted.count; i++)
		if (g.here[admitted.item[i]].is_open)
			g.order.item[g.order.count++] = admitted.item[i];
	if (!g.order.count || config_order_has_none(&g.order) || g.rule != NAME_RULE_MERGE)
		return 0;
	return upstream_pages_probe(w->context->upstream_pages, w->lease.catalog, project, &g.order, name_guard_since(&g), e);
}

static void probe_new_projects(struct catalog_watch *w)
{
	struct str rest = buf_view(&w->new_projects);
	while (rest.len) {
		struct err e = ERR_INIT;
		const char *project = str_cut(&rest, '\0').ptr;
		const struct site *site = server_context_site(w->context);
		int looked = 0;
		for (size_t i = 0; i < site->view_count && looked == 0; i++)
			if (site->view[i].upstreams.count && !is_order_before(site, i))
				looked = probe_order(w, &site->view[i].upstreams, project, &e);
		if (looked < 0)
			log_error("cannot ask upstream whether it has a new project: %s", e.msg);
	}
	buf_clear(&w->new_projects);
}

static int apply_project(void *ctx, const struct catalog_project *p, struct err *e)
{
	(void)e;
	struct change_batch *b = ctx;
	struct catalog_watch *w = b->watch;
	struct str name = str_from(p->project);
	bool was_known = project_filter_may_have(w->context->project_filter, p->platform, name);
	bool was_gone = project_filter_may_have(w->removed_projects, p->platform, name);
	project_directory_put(b->directory, p->project,
		&(struct project_place){.platform = p->platform, .newest = p->newest, .files = p->files});
	if (p->files || p->status)
		project_filter_add(w->context->project_filter, p->platform, name);
	b->status_changed |= p->status > b->since;
	if (p->files && was_gone)
		project_filter_remove(w->removed_projects, p->platform, name);
	else if (!p->files)
		project_filter_add(w->removed_projects, p->platform, name);
	b->lists_changed |= !was_known || was_gone || !p->files;
	if (p->files && (!was_known || was_gone) && w->context->upstream_pages)
		buf_add(&w->new_projects, p->project, strlen(p->project) + 1);
	if (!b->is_reopened)
		simple_pages_drop_project(w->context, p->project);
	return 0;
}

// What this server has requested itself is on its pages before it is in the catalog.
static int apply_upstream(void *ctx, const char *project, int64_t changed, struct err *e UNUSED)
{
	struct change_batch *b = ctx;
	struct server_context *s = b->watch->context;
	if (!b->is_reopened && !(s->upstream_pages && upstream_pages_note_change(s->upstream_pages, project, changed)))
		simple_pages_drop_project(s, project);
	return 0;
}

static int count_totals(struct catalog_watch *w, struct err *e)
{
	struct server_context *s = w->context;
	const struct site *site = server_context_site(s);
	size_t count = site->store.platform_count;
	CLEANUP(mem_free) struct catalog_totals *fresh = xcalloc(count, sizeof(*fresh));
	for (size_t i = 0; i < count; i++)
		if (catalog_totals(w->lease.catalog, site->store.platform[i].id, &fresh[i], e) < 0)
			return -1;
	pthread_mutex_lock(&s->totals_lock);
	free(s->totals);
	s->totals = STEAL_PTR(fresh);
	s->totals_count = count;
	pthread_mutex_unlock(&s->totals_lock);
	return 0;
}

// Reads the generations of memberships before the changes of projects: the files of a generation were there before it.
// Changes the project filter before it drops pages: a page made in between is made from the new catalog.
static int apply_changes(struct catalog_watch *w, bool is_reopened, uint32_t count, struct err *e)
{
	CLEANUP(project_directory_cleanup)
	struct project_directory *fresh = is_reopened ? project_directory_new() : NULL;
	struct change_batch b = {
		.watch = w, .is_reopened = is_reopened, .directory = fresh ? fresh : w->context->project_directory};
	int64_t before = b.since = w->last_change;
	int went_back = site_read_generations(server_context_site(w->context), w->lease.catalog, e);
	if (went_back < 0 ||
		catalog_changes(w->lease.catalog, w->last_change, apply_project, &b, &w->last_change, e) < 0 ||
		catalog_upstream_changes(w->lease.catalog, w->last_upstream_change, apply_upstream, &b,
			&w->last_upstream_change, e) < 0)
		return -1;
	if (fresh)
		project_directory_replace(w->context->project_directory, fresh);
	atomic_store_explicit(&w->context->project_filter_is_complete, true, memory_order_release);
	atomic_store(&w->context->lacks_directory, false);
	if (is_reopened && w->context->upstream_pages)
		upstream_pages_clear(w->context->upstream_pages);
	if (is_reopened || went_back || b.status_changed)
		pagecache_clear(w->context->pagecache);
	else if (b.lists_changed)
		simple_pages_drop_lists(w->context);
	else if (w->last_change != before)
		simple_pages_drop_member_lists(w->context);
	server_context_set_current(w->context, count);
	probe_new_projects(w);
	return count_totals(w, e);
}

// Reads everything, also from another file where the catalog was removed and created again. Opens the new connection
// before it closes the old one: at the close of the last connection SQLite would checkpoint and remove its log.
static int reopen_catalog(struct catalog_watch *w, struct err *e)
{
	struct catalog_lease before = w->lease, next = {0};
	struct err unused = ERR_INIT;
	w->last_change = w->last_upstream_change = 0;
	atomic_store(&w->reopen, false);
	int taken = catalog_pool_take(w->context->catalog_pool, &w->lease, e);
	catalog_pool_give(w->context->catalog_pool, &before);
	if (taken < 0)
		return -1;
	if (catalog_pool_take(w->context->catalog_pool, &next, &unused) == 0)
		catalog_pool_give(w->context->catalog_pool, &next); // for a page, also where no descriptor is left
	changes_renew(w->context->changes);
	uint32_t count = changes_read(w->context->changes);
	catalog_was_written(w->lease.catalog); // resets the comparison
	return apply_changes(w, true, count, e);
}

// The caller has read the count before: later commits have another one.
static int check_catalog(struct catalog_watch *w, uint32_t count, struct err *e)
{
	if (atomic_load(&w->reopen) || w->is_failing)
		return reopen_catalog(w, e);
	if (catalog_was_written(w->lease.catalog))
		return apply_changes(w, false, count, e);
	server_context_set_current(w->context, count);
	return 0;
}

// Somebody has removed the catalog, or has put another one in its place. What is open stays, and pages are made of it
// until a scan has made the catalog again (reload_changed_site of cli/serve.c).
static void look_for_file(struct catalog_watch *w)
{
	struct stat now = {0};
	ino_t before = w->inode;
	w->inode = stat(w->path, &now) == 0 ? now.st_ino : 0;
	if (!before || w->inode == before)
		return;
	log_warn("the catalog %s was removed: it is made again", w->path);
	store_scans_wake(w->context->scans);
}

static void log_waiver_end(void *ctx, const struct waiver *w)
{
	struct err e = ERR_INIT;
	struct server_context *s = ctx;
	CLEANUP(audit_cleanup) struct audit *audit = NULL;
	const struct audit_entry entry = {.action = "waive end", .project = w->project, .result = "done", .reason = w->id};
	if (audit_open(s->audit, &audit, &e) < 0 || audit_write(audit, &entry, &e) < 0)
		log_error("%s", e.msg);
}

// Which files are offered may have changed.
static void look_at_rules(struct server_context *s)
{
	if (server_context_look_at_denied(s) || (s->upstream_pages && upstreams_look(s->upstreams)))
		pagecache_clear(s->pagecache);
	if (s->upstream_pages)
		upstreams_end_waivers(s->upstreams, log_waiver_end, s);
}

// Each commit raises the change count. Where there is none, or a process died between commit and raise, the catalog is
// checked each POLL_MS.
static void *run_watch(void *ctx)
{
	struct catalog_watch *w = ctx;
	struct server_context *s = w->context;
	changes_wait(s->changes, changes_read(s->changes), FIRST_PAGES_MS);
	for (int64_t swept_ms = clock_ms(), looked_ms = 0; !atomic_load(&w->stop);) {
		uint32_t count = changes_read(s->changes);
		// After an error everything is read again until that succeeds. Meanwhile the server answers from what
		// it has.
		struct err e = ERR_INIT;
		int result = check_catalog(w, count, &e);
		if (result < 0)
			server_context_set_current(w->context, count);
		if (result < 0 && !w->is_failing)
			log_error("cannot follow the catalog: %s", e.msg);
		w->is_failing = result < 0;
		look_for_file(w);
		if (clock_ms() - looked_ms >= LOOK_MS) {
			look_at_rules(s);
			looked_ms = clock_ms();
		}
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

static void catalog_watch_free(struct catalog_watch *w)
{
	catalog_pool_give(w->context->catalog_pool, &w->lease);
	project_filter_free(w->removed_projects);
	buf_release(&w->new_projects);
	free(w->path);
	free(w);
}

// What the first answer depends on: which files the views with a membership show. The thread reads all else, which
// takes as long as there are projects: meanwhile any project may be there, and there is no page that could be old.
static int read_first(struct catalog_watch *w, struct err *e)
{
	struct server_context *s = w->context;
	if (catalog_pool_take(s->catalog_pool, &w->lease, e) < 0)
		return -1;
	w->path = xstrdup(catalog_path(w->lease.catalog));
	look_for_file(w);
	uint32_t count = changes_read(s->changes);
	if (site_read_generations(server_context_site(s), w->lease.catalog, e) < 0 || count_totals(w, e) < 0)
		return -1;
	catalog_pool_give(s->catalog_pool, &w->lease); // the first page needs no other connection
	server_context_set_current(s, count);
	atomic_store(&s->lacks_directory, true);
	atomic_store(&w->reopen, true);
	return 0;
}

struct catalog_watch *catalog_watch_start(struct server_context *s, struct err *e)
{
	struct catalog_watch *w = xcalloc(1, sizeof(*w));
	w->context = s;
	w->removed_projects = project_filter_new();
	buf_init(&w->new_projects, LIMIT_OWNED_NAMES);
	if (read_first(w, e) < 0) {
		catalog_watch_free(w);
		return NULL;
	}
	if (pthread_create(&w->thread, NULL, run_watch, w) != 0)
		abort();
	return w;
}

// Raising the count wakes the thread.
void catalog_watch_reopen(struct catalog_watch *w)
{
	atomic_store(&w->reopen, true);
	changes_raise(w->context->changes);
}

void catalog_watch_stop(struct catalog_watch *w)
{
	if (!w)
		return;
	atomic_store(&w->stop, true);
	changes_raise(w->context->changes);
	pthread_join(w->thread, NULL);
	catalog_watch_free(w);
}
