// SPDX-License-Identifier: Apache-2.0
#include "server/core/monitors.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "lib/advisories/advisories.h"
#include "lib/base/buf.h"
#include "lib/base/counted.h"
#include "lib/base/log.h"
#include "lib/os/clock.h"
#include "lib/os/timer-thread.h"
#include "lib/state/access/audit.h"
#include "lib/state/store/freeze.h"
#include "lib/state/store/project-status.h"
#include "lib/state/store/quota.h"
#include "lib/state/store/volume-release.h"
#include "lib/state/store/retired.h"
#include "server/core/pagecache.h"

enum {
	ROUND_MS = 1000,
	ROUNDS_PER_COUNT = 5, // adding up file sizes costs more than a look at a mark
};

struct platform_entry {
	char *name;
	struct platform_monitor_state state;
	uint32_t seen; // the change count when statuses were looked at
};

struct platform_monitor {
	struct server_context *context;
	struct timer_thread *timer;
	unsigned rounds;
	pthread_mutex_t lock; // of the fields below; only the timer thread writes them
	struct platform_entry *entry;
	size_t count, room;
};

static struct platform_entry *find_platform_entry(struct platform_monitor *m, const char *name)
{
	for (size_t i = 0; i < m->count; i++)
		if (strcmp(m->entry[i].name, name) == 0)
			return &m->entry[i];
	return NULL;
}

bool platform_monitor_get(struct platform_monitor *m, const char *platform, struct platform_monitor_state *out)
{
	pthread_mutex_lock(&m->lock);
	const struct platform_entry *entry = find_platform_entry(m, platform);
	if (entry)
		*out = entry->state;
	pthread_mutex_unlock(&m->lock);
	return entry != NULL;
}

static void update_quota(struct platform_monitor *m, const struct platform *p, struct platform_monitor_state *state)
{
	struct catalog_lease lease;
	struct err e = ERR_INIT;
	struct catalog_usage usage;
	state->quota_percent = 0;
	if (!p->quota_bytes && !p->quota_files)
		return;
	if (catalog_pool_take(m->context->catalog_pool, &lease, &e) < 0)
		return; // catalog_watch logs it
	if (catalog_usage(lease.catalog, p->id, &usage, &e) == 0)
		state->quota_percent =
			quota_percent(p, &(struct quota_use){.files = usage.files, .bytes = usage.bytes});
	catalog_pool_give(m->context->catalog_pool, &lease);
}

static void note_damage(void *ctx, const char *words)
{
	struct platform_monitor_state *state = ctx;
	if (!state->statuses_damaged++)
		snprintf(state->status_error, sizeof(state->status_error), "%s", words);
}

// Statuses are in the catalog, which says when they may be others.
static void update_statuses(struct platform_monitor *m, const struct platform *p, uint32_t count,
	struct platform_monitor_state *state)
{
	struct catalog_lease lease;
	struct err e = ERR_INIT;
	const struct platform_entry *entry = find_platform_entry(m, p->name);
	if ((entry && m->context->changes && entry->seen == count) || !p->id ||
		catalog_pool_take(m->context->catalog_pool, &lease, &e) < 0)
		return;
	struct platform_monitor_state found = {0};
	if (project_status_damages(lease.catalog, p->id, note_damage, &found, &e) == 0) {
		state->statuses_damaged = found.statuses_damaged;
		memcpy(state->status_error, found.status_error, sizeof(found.status_error));
	}
	catalog_pool_give(m->context->catalog_pool, &lease);
}

static void update_platform(struct platform_monitor *m, const struct platform *p, bool counts)
{
	struct platform_monitor_state before = {0};
	platform_monitor_get(m, p->name, &before);
	struct platform_monitor_state now = before;
	// Leaves the state as it is where the folder cannot be read: the scan reports that.
	struct err ignored = ERR_INIT;
	CLEANUP(buf_release) struct buf why;
	buf_init(&why, SIZE_MAX / 2); // freeze_is() has a limit
	int frozen = freeze_is(p, &why, &ignored);
	if (frozen >= 0) {
		struct str words = buf_view(&why);
		if (words.len >= sizeof(now.reason))
			words.len = sizeof(now.reason) - 1;
		while (words.len && !str_is_utf8(words))
			words.len--; // do not cut a character
		now.is_frozen = frozen;
		memcpy(now.reason, words.ptr, words.len);
		now.reason[words.len] = '\0';
	}
	uint32_t count = changes_read(m->context->changes);
	if (counts) {
		update_quota(m, p, &now);
		update_statuses(m, p, count, &now);
	}
	bool was_near = before.quota_percent >= QUOTA_WARNING, is_near = now.quota_percent >= QUOTA_WARNING;
	if (now.is_frozen && (!before.is_frozen || strcmp(before.reason, now.reason) != 0))
		log_info("platform %s is frozen: %s", p->name, now.reason);
	if (before.is_frozen && !now.is_frozen)
		log_info("platform %s is thawed", p->name);
	if (is_near && !was_near)
		log_warn("platform %s: %u %% of its quota is used", p->name, now.quota_percent);
	if (now.statuses_damaged && strcmp(before.status_error, now.status_error) != 0)
		log_error("platform %s: %s", p->name, now.status_error);
	if (was_near && !is_near)
		log_info("platform %s: only %u %% of its quota is used again", p->name, now.quota_percent);
	pthread_mutex_lock(&m->lock);
	struct platform_entry *entry = find_platform_entry(m, p->name);
	if (!entry) {
		GROW(m->entry, m->count, m->room);
		entry = &m->entry[m->count++];
		entry->name = xstrdup(p->name);
	}
	entry->state = now;
	entry->seen = counts ? count : entry->seen;
	pthread_mutex_unlock(&m->lock);
	// Pages leave out a retired platform, and no change of the catalog says that they are old.
	if (retired_note(p, now.is_frozen && freeze_is_retirement(str_from(now.reason))))
		pagecache_clear(m->context->pagecache);
}

static int64_t check_platforms(void *ctx)
{
	struct platform_monitor *m = ctx;
	bool counts = m->rounds++ % ROUNDS_PER_COUNT == 0;
	const struct site *site = server_context_site(m->context);
	for (size_t i = 0; i < site->store.platform_count && !timer_thread_is_stopping(m->timer); i++)
		update_platform(m, &site->store.platform[i], counts);
	return ROUND_MS;
}

struct platform_monitor *platform_monitor_start(struct server_context *s)
{
	struct platform_monitor *m = xcalloc(1, sizeof(*m));
	m->context = s;
	pthread_mutex_init(&m->lock, NULL);
	m->timer = timer_thread_new(check_platforms, m);
	timer_thread_start(m->timer, 0);
	return m;
}

void platform_monitor_stop(struct platform_monitor *m)
{
	if (!m)
		return;
	timer_thread_free(m->timer);
	while (m->count)
		free(m->entry[--m->count].name);
	free(m->entry);
	pthread_mutex_destroy(&m->lock);
	free(m);
}

// --- views ---

// Losses are looked for after commits to the catalog, and every so many looks.
enum { LOOK_MS = 5000, LOOKS_MOST = 12 };

struct monitored_view {
	char *name;
	struct view_silences silences;
	struct member_losses losses;
};

struct monitored_views {
	struct monitored_view *item;
	size_t count, room;
};

struct view_monitor {
	struct server_context *context;
	struct timer_thread *timer;
	struct catalog *catalog; // of the timer thread; NULL: it is not open
	bool has_failed;         // the last look, and it was logged
	unsigned looks;          // until losses are looked for in any case
	uint32_t seen;           // the change count when they were looked for
	pthread_mutex_t lock;    // of the fields below; only the timer thread writes them
	struct monitored_views views;
};

static void release_views(struct monitored_views *v)
{
	while (v->count) {
		struct monitored_view *last = &v->item[--v->count];
		free(last->name);
		view_silences_release(&last->silences);
		member_losses_release(&last->losses);
	}
	free(v->item);
}

static struct monitored_view *find_monitored(const struct monitored_views *v, const char *name)
{
	for (size_t i = 0; i < v->count; i++)
		if (strcmp(v->item[i].name, name) == 0)
			return &v->item[i];
	return NULL;
}

void view_monitor_silences(struct view_monitor *m, const char *view, view_monitor_silence_fn *fn, void *ctx)
{
	if (!m)
		return;
	pthread_mutex_lock(&m->lock);
	const struct monitored_view *found = find_monitored(&m->views, view);
	for (size_t i = 0; found && i < found->silences.count; i++)
		if (found->silences.item[i].is_silent)
			fn(ctx, &found->silences.item[i]);
	pthread_mutex_unlock(&m->lock);
}

size_t view_monitor_losses(struct view_monitor *m, const char *view, size_t most, view_monitor_loss_fn *fn, void *ctx)
{
	if (!m)
		return 0;
	pthread_mutex_lock(&m->lock);
	const struct monitored_view *found = find_monitored(&m->views, view);
	size_t count = found ? found->losses.count : 0;
	for (size_t i = 0; i < count && i < most; i++)
		fn(ctx, &found->losses.item[i]);
	pthread_mutex_unlock(&m->lock);
	return count;
}

// --- looking ---

static int look_at_monitored(struct view_monitor *m, const struct config_view *v, bool for_losses, struct monitored_views *to,
	struct err *e)
{
	int64_t now = clock_wall_seconds();
	struct hook_queue *queue = m->context->view_hooks;
	GROW(to->item, to->count, to->room);
	struct monitored_view *one = &to->item[to->count++];
	*one = (struct monitored_view){.name = xstrdup(v->name)};
	if (view_silence_note(v, m->catalog, now, queue, e) < 0 ||
		view_silence_read(v, m->catalog, now, false, &one->silences, e) < 0)
		return -1;
	return for_losses ? member_losses_note(v, m->catalog, now, queue, &one->losses, e) : 0;
}

// Puts what was found in the place of what was kept. Losses that were not looked for are as they were.
static void keep_views(struct view_monitor *m, struct monitored_views *found, bool for_losses)
{
	struct monitored_views old = m->views;
	pthread_mutex_lock(&m->lock);
	for (size_t i = 0; i < found->count && !for_losses; i++) {
		struct monitored_view *before = find_monitored(&old, found->item[i].name);
		if (!before)
			continue;
		found->item[i].losses = before->losses;
		before->losses = (struct member_losses){0};
	}
	m->views = *found;
	pthread_mutex_unlock(&m->lock);
	*found = old;
}

static int look_at_views(struct view_monitor *m, const struct config *c, struct err *e)
{
	CLEANUP(release_views) struct monitored_views found = {0};
	uint32_t count = changes_read(m->context->changes);
	bool for_losses = !m->context->changes || !m->looks || count != m->seen, has_membership = m->views.count > 0;
	for (size_t i = 0; i < c->view_count; i++)
		has_membership |= c->views[i].from != NULL;
	if (!has_membership)
		return 0;
	if (!m->catalog && catalog_open(m->context->catalog_path, &m->catalog, e) < 0)
		return -1;
	for (size_t i = 0; i < c->view_count; i++) {
		if (timer_thread_is_stopping(m->timer))
			return 0;
		if (c->views[i].from && look_at_monitored(m, &c->views[i], for_losses, &found, e) < 0)
			return -1;
	}
	m->looks = for_losses ? LOOKS_MOST : m->looks - 1;
	m->seen = count;
	keep_views(m, &found, for_losses);
	return 0;
}

static int64_t look_for_all(void *ctx)
{
	struct view_monitor *m = ctx;
	struct err e = ERR_INIT;
	if (!atomic_load(&m->context->is_filled))
		return LOOK_MS;
	bool has_failed = look_at_views(m, &server_context_site(m->context)->config, &e) < 0;
	if (has_failed && !m->has_failed)
		log_error("whether views are silent or have lost files is not known: %s", e.msg);
	if (has_failed)
		catalog_close(STEAL_PTR(m->catalog)); // it may have been removed
	m->has_failed = has_failed;
	return LOOK_MS;
}

struct view_monitor *view_monitor_start(struct server_context *s)
{
	struct view_monitor *m = xcalloc(1, sizeof(*m));
	m->context = s;
	pthread_mutex_init(&m->lock, NULL);
	m->timer = timer_thread_new(look_for_all, m);
	timer_thread_start(m->timer, 0);
	return m;
}

void view_monitor_stop(struct view_monitor *m)
{
	if (!m)
		return;
	timer_thread_free(m->timer);
	release_views(&m->views);
	catalog_close(m->catalog);
	pthread_mutex_destroy(&m->lock);
	free(m);
}

// --- block lists ---

// A look at a folder of many files takes long: it has a twentieth of the time.
enum { LISTS_MS = 2000, LISTS_SHARE = 20 };

struct advisory_monitor {
	struct server_context *context;
	struct timer_thread *timer;
};

static int64_t look_at_lists(void *ctx)
{
	const struct advisory_monitor *m = ctx;
	int64_t begin = clock_ms();
	struct advisories *now = server_context_advisories(m->context);
	struct advisories *next = advisories_renew(now);
	if (next) {
		server_context_set_advisories(m->context, now, next);
		pagecache_clear(m->context->pagecache);
	}
	advisories_unref(now);
	return LISTS_MS + LISTS_SHARE * (clock_ms() - begin);
}

struct advisory_monitor *advisory_monitor_start(struct server_context *s)
{
	struct advisory_monitor *m = xcalloc(1, sizeof(*m));
	m->context = s;
	m->timer = timer_thread_new(look_at_lists, m);
	timer_thread_start(m->timer, 0);
	return m;
}

void advisory_monitor_hurry(struct advisory_monitor *m)
{
	timer_thread_wake(m->timer);
}

void advisory_monitor_stop(struct advisory_monitor *m)
{
	if (!m)
		return;
	timer_thread_free(m->timer);
	free(m);
}

// --- releases of volumes ---

enum {
	CHECK_MS = 250,  // how often a local file is read, in which all processes record pending releases
	RETRY_MS = 1000, // doubled with each failure
	RETRY_MOST_MS = 300000,
	GRACE_MS = 20000, // for a release under way at the stop
};

struct release_worker {
	struct release_scheduler *scheduler;
	char *platform;
	struct timer_thread *timer;
	struct release_scheduler_state state; // under the lock; only the thread writes it
	_Atomic int64_t end_ms;               // limit of the release under way, by clock_ms()
	int64_t due_ms;                       // of the next release, by clock_ms(); 0: none is pending
};

struct release_scheduler {
	struct server_context *context;
	pthread_mutex_t lock;
	struct release_worker **worker;
	size_t count, room;
};

static struct release_worker *find_worker(const struct release_scheduler *r, const char *platform)
{
	for (size_t i = 0; i < r->count; i++)
		if (strcmp(r->worker[i]->platform, platform) == 0)
			return r->worker[i];
	return NULL;
}

bool release_scheduler_get(struct release_scheduler *r, const struct platform *p, struct release_scheduler_state *out)
{
	pthread_mutex_lock(&r->lock);
	const struct release_worker *w = p->release ? find_worker(r, p->name) : NULL;
	if (w)
		*out = w->state;
	pthread_mutex_unlock(&r->lock);
	return w != NULL;
}

// --- one attempt ---

static void write_release_audit(struct release_worker *w, const char *result, const char *reason)
{
	struct err e = ERR_INIT;
	CLEANUP(audit_cleanup) struct audit *audit = NULL;
	const struct audit_entry entry = {
		.who = "wheelcache serve",
		.action = "release",
		.platform = w->platform,
		.result = result,
		.reason = reason,
	};
	if (audit_open(w->scheduler->context->audit, &audit, &e) < 0 || audit_write(audit, &entry, &e) < 0)
		log_error("%s", e.msg);
}

static void note_success(struct release_worker *w, bool did)
{
	struct server_context *s = w->scheduler->context;
	if (did && w->state.failures)
		log_info("platform %s: released, after %s", w->platform,
			COUNTED(w->state.failures, "failure|failures"));
	pthread_mutex_lock(&w->scheduler->lock);
	w->state.failures = 0;
	w->state.pending_since = 0;
	if (did)
		w->state.succeeded = clock_wall_seconds();
	pthread_mutex_unlock(&w->scheduler->lock);
	w->due_ms = 0;
	if (!did)
		return; // another process has released it
	write_release_audit(w, "done", NULL);
	store_scans_hurry(s->scans); // a scan finds what else the release has brought
}

static void run_release(struct release_worker *w, const struct platform *p)
{
	struct err e = ERR_INIT;
	pthread_mutex_lock(&w->scheduler->lock);
	bool stops = timer_thread_is_stopping(w->timer);
	w->state.is_running = true;
	atomic_store(&w->end_ms, clock_ms() + (stops ? 0 : (int64_t)p->release_timeout * 1000));
	pthread_mutex_unlock(&w->scheduler->lock);
	int done = volume_release_run(w->scheduler->context->catalog_path, p, &w->end_ms, false, &e);
	pthread_mutex_lock(&w->scheduler->lock);
	w->state.is_running = false;
	pthread_mutex_unlock(&w->scheduler->lock);
	if (done >= 0)
		note_success(w, done > 0);
	else if (e.kind == ERR_BUSY)
		w->due_ms = clock_ms() + RETRY_MS; // another release of this volume is running
	else {
		// An error that lasts is logged once.
		int64_t pause = RETRY_MS;
		for (unsigned i = 0; i < w->state.failures && pause < RETRY_MOST_MS; i++)
			pause *= 2;
		bool is_new = !w->state.failures || strcmp(w->state.error, e.msg) != 0;
		(is_new ? log_error : log_debug)("platform %s: it is not released: %s", w->platform, e.msg);
		pthread_mutex_lock(&w->scheduler->lock);
		w->state.failures++;
		memcpy(w->state.error, e.msg, sizeof(w->state.error));
		pthread_mutex_unlock(&w->scheduler->lock);
		w->due_ms = clock_ms() + (pause < RETRY_MOST_MS ? pause : RETRY_MOST_MS);
		write_release_audit(w, "failed", e.msg);
	}
}

// --- the threads ---

static int64_t check_release(void *ctx)
{
	struct release_worker *w = ctx;
	int64_t since;
	const struct release_scheduler *r = w->scheduler;
	const struct platform *p = site_platform(server_context_site(r->context), str_from(w->platform));
	bool is_wanted = p && volume_release_is_wanted(r->context->catalog_path, p, &since);
	pthread_mutex_lock(&w->scheduler->lock);
	w->state.pending_since = is_wanted ? since : 0;
	pthread_mutex_unlock(&w->scheduler->lock);
	if (!is_wanted && w->state.failures)
		note_success(w, false); // another process has released it
	else if (!is_wanted)
		w->due_ms = 0;
	else if (!w->due_ms)
		w->due_ms = clock_ms() + (int64_t)p->release_delay * 1000;
	else if (clock_ms() >= w->due_ms)
		run_release(w, p);
	return CHECK_MS;
}

void release_scheduler_update(struct release_scheduler *r)
{
	const struct store *store = &server_context_site(r->context)->store;
	for (size_t i = 0; i < store->platform_count; i++)
		if (store->platform[i].release && !find_worker(r, store->platform[i].name)) {
			struct release_worker *w = xcalloc(1, sizeof(*w));
			w->scheduler = r;
			w->platform = xstrdup(store->platform[i].name);
			w->timer = timer_thread_new(check_release, w);
			pthread_mutex_lock(&r->lock);
			GROW(r->worker, r->count, r->room);
			r->worker[r->count++] = w;
			pthread_mutex_unlock(&r->lock);
			timer_thread_start(w->timer, 0);
		}
}

struct release_scheduler *release_scheduler_start(struct server_context *s)
{
	struct release_scheduler *r = xcalloc(1, sizeof(*r));
	r->context = s;
	pthread_mutex_init(&r->lock, NULL);
	release_scheduler_update(r);
	return r;
}

void release_scheduler_stop(struct release_scheduler *r)
{
	if (!r)
		return;
	int64_t soon = clock_ms() + GRACE_MS;
	pthread_mutex_lock(&r->lock);
	for (size_t i = 0; i < r->count; i++) {
		timer_thread_request_stop(r->worker[i]->timer);
		if (atomic_load(&r->worker[i]->end_ms) > soon)
			atomic_store(&r->worker[i]->end_ms, soon);
	}
	pthread_mutex_unlock(&r->lock);
	for (size_t i = 0; i < r->count; i++) {
		timer_thread_free(r->worker[i]->timer);
		free(r->worker[i]->platform);
		free(r->worker[i]);
	}
	free(r->worker);
	pthread_mutex_destroy(&r->lock);
	free(r);
}
