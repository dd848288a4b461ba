// SPDX-License-Identifier: Apache-2.0
#include "cli/common/watched-scan.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "cli/common/scan-log.h"
#include "indexer/scan/scan-changes.h"
#include "indexer/watch/store-watch.h"
#include "lib/base/limits.h"
#include "lib/base/log.h"
#include "lib/os/clock.h"
#include "lib/os/timer-thread.h"
#include "lib/state/store/wanted-contents.h"
#include "lib/state/views/membership.h"
#include "lib/state/views/views-file.h"
#include "lib/state/views/views-sync.h"

struct watched_scan {
	char *catalog_path;
	void (*wants_whole)(void *ctx);
	void *ctx;
	const _Atomic bool *cancel;
	struct timer_thread *timer;
	_Atomic(struct store_watch *) watch; // NULL: nothing was ever watched
	_Atomic int64_t earliest_ms;         // of the next scan, by clock_ms()
	bool has_failed_to_watch;            // of the thread that scans all
	pthread_mutex_t lock;                // of what follows, also while a scan runs
	struct store store;
	bool has_store;
	unsigned threads;
	uint64_t settle;
	bool takes_facts;
	char *views;               // NULL: none
	char *on_change;           // [index] on-change; NULL: none
	struct hook_queue *hooks;  // borrowed
	pthread_mutex_t state_lock;
	struct server_callbacks_watch state;
};

static void on_store_change(void *ctx)
{
	struct watched_scan *w = ctx;
	int64_t due = clock_ms() + store_watch_due(atomic_load(&w->watch)), earliest = atomic_load(&w->earliest_ms);
	timer_thread_wake_by(w->timer, due > earliest ? due : earliest);
}

static int sync_views(const struct watched_scan *w, struct catalog *catalog, struct err *e)
{
	struct views_sync_counts counts;
	if (!w->views || !views_file_answers(w->views, STORE_PROMPT))
		return 0;
	return views_sync(w->views, catalog, NULL, NULL, &counts, e);
}

static int scan_taken(struct watched_scan *w, struct store_watch_taken *taken, struct summary *summary,
	bool *wants_whole, struct err *e)
{
	CLEANUP(catalog_cleanup) struct catalog *catalog = NULL;
	const struct scan_changes_options options = {
		.threads = w->threads,
		.settle = w->settle,
		.takes_facts = w->takes_facts,
		.owner = "wheelcache serve",
		.on_folder = store_watch_folder,
		.ctx = atomic_load(&w->watch),
		.cancel = w->cancel,
	};
	if (catalog_open(w->catalog_path, &catalog, e) < 0 || (taken->has_views && sync_views(w, catalog, e) < 0))
		return -1;
	if (taken->changes.count &&
		scan_changes_run(&w->store, catalog, &taken->changes, &options, summary, wants_whole, e) < 0)
		return -1;
	return wanted_contents_take(&w->store, catalog, LIMIT_CONTENTS_MS, w->cancel, e);
}

static void note_scan(struct watched_scan *w, const uint64_t *number, int64_t since_ms)
{
	double lag = (double)(clock_ms() - since_ms) / 1000;
	pthread_mutex_lock(&w->state_lock);
	w->state.scans++;
	w->state.fruitless += !number[SCAN_REPORT_ADDED] && !number[SCAN_REPORT_CHANGED] && !number[SCAN_REPORT_GONE];
	w->state.lag = lag;
	w->state.longest_lag = lag > w->state.longest_lag ? lag : w->state.longest_lag;
	pthread_mutex_unlock(&w->state_lock);
}

// Under the lock. What failed, or was too much, is left to the scan of all, which also reports it.
static void scan_now(struct watched_scan *w)
{
	struct err e = ERR_INIT;
	struct store_watch_taken taken;
	CLEANUP(summary_release) struct summary summary = {.shape = &scan_report_shape};
	store_watch_take(atomic_load(&w->watch), &taken);
	bool wants_whole = taken.changes.is_whole, is_in_doubt = false;
	if (scan_taken(w, &taken, &summary, &is_in_doubt, &e) < 0 && !atomic_load(w->cancel)) {
		log_debug("watch: %s", e.msg);
		is_in_doubt = true;
	}
	scan_log_summary("watch", &summary);
	scan_log_tell(w->hooks, w->on_change, &summary);
	if (!wants_whole)
		note_scan(w, summary.number, taken.since_ms);
	store_changes_release(&taken.changes);
	if (wants_whole || is_in_doubt)
		w->wants_whole(w->ctx);
}

// Before the first scan of all has ended, changes wait for its end. Scans take at most half of the time.
static int64_t scan_changes_when_due(void *ctx)
{
	struct watched_scan *w = ctx;
	int64_t due = store_watch_due(atomic_load(&w->watch)), pause = TIMER_THREAD_UNTIL_WOKEN;
	if (due > 0)
		return due;
	pthread_mutex_lock(&w->lock);
	if (due == 0 && w->has_store) {
		int64_t begun = clock_ms();
		scan_now(w);
		pause = clock_ms() - begun;
		atomic_store(&w->earliest_ms, begun + 2 * pause);
	}
	pthread_mutex_unlock(&w->lock);
	return pause;
}

struct watched_scan *watched_scan_new(const char *catalog_path, void (*wants_whole)(void *ctx), void *ctx,
	const _Atomic bool *cancel, struct hook_queue *hooks)
{
	struct watched_scan *w = xcalloc(1, sizeof(*w));
	w->hooks = hooks;
	w->catalog_path = xstrdup(catalog_path);
	w->wants_whole = wants_whole;
	w->ctx = ctx;
	w->cancel = cancel;
	pthread_mutex_init(&w->lock, NULL);
	pthread_mutex_init(&w->state_lock, NULL);
	w->timer = timer_thread_new(scan_changes_when_due, w);
	return w;
}

static bool is_watch_wanted(const struct config *c)
{
	return strcmp(c->watch, "yes") == 0 || (strcmp(c->watch, "auto") == 0 && c->rescan);
}

static struct store_watch *start_watch(struct watched_scan *w)
{
	struct err e = ERR_INIT;
	struct store_watch *watch = store_watch_new(on_store_change, w, &e);
	if (!watch && !w->has_failed_to_watch)
		log_warn("watch: %s: changes of the store are seen at the next scan", e.msg);
	w->has_failed_to_watch = !watch;
	atomic_store(&w->watch, watch);
	if (watch)
		timer_thread_start(w->timer, 0);
	return watch;
}

static void set_watching(struct watched_scan *w, bool is_on)
{
	pthread_mutex_lock(&w->state_lock);
	w->state.is_on = is_on;
	pthread_mutex_unlock(&w->state_lock);
}

// The watch begins before the scan, so that nothing is missed between them.
void watched_scan_begin(struct watched_scan *w, const struct config *config, const struct store *store,
	struct scan_options *options)
{
	struct store_watch *watch = atomic_load(&w->watch);
	if (is_watch_wanted(config) && !watch)
		watch = start_watch(w);
	set_watching(w, watch && is_watch_wanted(config));
	if (!watch)
		return;
	bool has_views = options->views && views_file_answers(options->views, options->views_ms);
	store_watch_begin(watch, is_watch_wanted(config) ? store : NULL, has_views ? options->views : NULL);
	if (!is_watch_wanted(config))
		return;
	options->on_folder = store_watch_folder;
	options->folder_ctx = watch;
	pthread_mutex_lock(&w->lock);
	w->threads = (unsigned)config->index_threads;
	w->settle = config->settle;
	w->takes_facts = config->takes_facts;
	free(w->views);
	w->views = options->views ? xstrdup(options->views) : NULL;
	free(w->on_change);
	w->on_change = config->index_on_change ? xstrdup(config->index_on_change) : NULL;
	pthread_mutex_unlock(&w->lock);
}

void watched_scan_end(struct watched_scan *w, struct store *store, bool has_looked)
{
	struct store_watch *watch = atomic_load(&w->watch);
	if (!watch || !has_looked)
		return;
	store_watch_end(watch);
	pthread_mutex_lock(&w->lock);
	store_release(&w->store);
	w->store = *store;
	*store = (struct store){.waited = store->waited};
	w->has_store = true;
	pthread_mutex_unlock(&w->lock);
	timer_thread_wake(w->timer);
}

void watched_scan_state(struct watched_scan *w, struct server_callbacks_watch *out)
{
	struct store_watch_counts counts = {0};
	struct store_watch *watch = atomic_load(&w->watch);
	if (watch)
		store_watch_count(watch, &counts);
	pthread_mutex_lock(&w->state_lock);
	*out = w->state;
	pthread_mutex_unlock(&w->state_lock);
	out->folders = counts.folders;
	out->refused = counts.refused;
	out->overflows = counts.overflows;
	out->floods = counts.floods;
}

bool watched_scan_has(struct watched_scan *w, const char *platform, const char **silent)
{
	struct store_watch *watch = atomic_load(&w->watch);
	*silent = NULL;
	return watch && store_watch_has(watch, platform, silent);
}

void watched_scan_stop(struct watched_scan *w)
{
	if (!w)
		return;
	timer_thread_stop(w->timer);
}

void watched_scan_free(struct watched_scan *w)
{
	if (!w)
		return;
	store_watch_free(atomic_load(&w->watch));
	timer_thread_free(w->timer);
	store_release(&w->store);
	pthread_mutex_destroy(&w->lock);
	pthread_mutex_destroy(&w->state_lock);
	free(w->views);
	free(w->on_change);
	free(w->catalog_path);
	free(w);
}
