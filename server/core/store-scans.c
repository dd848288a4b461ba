// SPDX-License-Identifier: Apache-2.0
#include "server/core/store-scans.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "indexer/scan/scan-changes.h"
#include "indexer/scan/scan-log.h"
#include "indexer/scan/scan.h"
#include "lib/base/limits.h"
#include "lib/base/log.h"
#include "lib/os/clock.h"
#include "lib/os/timer-thread.h"
#include "lib/state/store/wanted-contents.h"
#include "lib/state/views/membership.h"
#include "lib/state/views/views-file.h"
#include "lib/state/views/views-sync.h"

enum {
	PAUSE_FACTOR = 20, // the pause is at least 20 times as long as the scan: scans take at most 5 % of the time
	MIN_PAUSE = 1000,  // milliseconds
	HOOK_SECONDS = 5,  // for commands of on-change at the stop
	INSIDE_MS = 5000,  // milliseconds of a scan for the facts that the catalog lacks; new files wait for its end
};

struct store_scans {
	char *catalog_path;
	void (*on_end)(void *ctx);
	void *ctx;
	struct hook_queue *hooks; // of [index] on-change
	_Atomic bool cancel;
	// Of both threads and of callers.
	pthread_mutex_t lock; // of the following members
	struct config next;
	bool has_next;
	int64_t earliest_ms; // the earliest start of a hurried scan, by clock_ms(); INT64_MAX during a scan
	struct store_scans_state state;
	struct store_scans_watch watched;
	// Of the thread that scans all, which says what is watched.
	struct timer_thread *timer;
	struct config config; // the other thread reads it under changes_lock
	void (*progress)(void *ctx, const struct walk_progress *progress); // NULL from the second scan on
	void (*end_progress)(void *ctx);
	char *last_error; // of the last scan; NULL: it succeeded
	bool has_failed_to_watch;
	// Of the thread that scans what has changed.
	struct timer_thread *changes_timer;
	_Atomic(struct store_watch *) watch;  // NULL: nothing was ever watched
	_Atomic int64_t changes_earliest_ms;  // of its next scan, by clock_ms()
	pthread_mutex_t changes_lock;         // of the following members; held while a scan runs
	struct store store;
	bool has_store;
};

// --- what has changed ---

static void on_store_change(void *ctx)
{
	struct store_scans *s = ctx;
	int64_t due = clock_ms() + store_watch_due(atomic_load(&s->watch)), earliest = atomic_load(&s->changes_earliest_ms);
	timer_thread_wake_by(s->changes_timer, due > earliest ? due : earliest);
}

static int sync_views(const struct store_scans *s, struct catalog *catalog, struct err *e)
{
	struct views_sync_counts counts;
	struct err why = ERR_INIT; // the next scan tells of it
	CLEANUP(mem_free) char *views = views_folder_or_none(&s->config);
	bool answers = views && views_file_answers(views, STORE_PROMPT, &why);
	return answers ? views_sync(views, catalog, NULL, NULL, &counts, e) : 0;
}

static int scan_taken(struct store_scans *s, struct store_watch_taken *taken, struct summary *summary,
	bool *wants_whole, struct err *e)
{
	CLEANUP(catalog_cleanup) struct catalog *catalog = NULL;
	const struct scan_changes_options options = {
		.threads = (unsigned)s->config.index_threads,
		.settle = s->config.settle,
		.takes_facts = s->config.takes_facts,
		.owner = "wheelcache serve",
		.on_folder = store_watch_folder,
		.ctx = atomic_load(&s->watch),
		.cancel = &s->cancel,
	};
	if (catalog_open(s->catalog_path, &catalog, e) < 0 || (taken->has_views && sync_views(s, catalog, e) < 0))
		return -1;
	if (taken->changes.count &&
		scan_changes_run(&s->store, catalog, &taken->changes, &options, summary, wants_whole, e) < 0)
		return -1;
	return wanted_contents_take(&s->store, catalog, LIMIT_CONTENTS_MS, &s->cancel, e);
}

// Under changes_lock. What failed, or was too much, is left to the scan of all, which also reports it.
static void scan_changes_now(struct store_scans *s)
{
	struct err e = ERR_INIT;
	struct store_watch_taken taken;
	CLEANUP(summary_release) struct summary summary = {.shape = &scan_report_shape};
	store_watch_take(atomic_load(&s->watch), &taken);
	bool wants_whole = taken.changes.is_whole, is_in_doubt = false;
	if (scan_taken(s, &taken, &summary, &is_in_doubt, &e) < 0 && !atomic_load(&s->cancel)) {
		log_debug("watch: %s", e.msg);
		is_in_doubt = true;
	}
	scan_log_summary("watch", &summary);
	scan_log_tell(s->hooks, s->config.index_on_change, &summary);
	if (!wants_whole) {
		double lag = (double)(clock_ms() - taken.since_ms) / 1000;
		pthread_mutex_lock(&s->lock);
		s->watched.scans++;
		s->watched.fruitless += !summary.number[SCAN_REPORT_ADDED] && !summary.number[SCAN_REPORT_CHANGED] &&
					!summary.number[SCAN_REPORT_GONE];
		s->watched.lag = lag;
		s->watched.longest_lag = lag > s->watched.longest_lag ? lag : s->watched.longest_lag;
		pthread_mutex_unlock(&s->lock);
	}
	store_changes_release(&taken.changes);
	if (wants_whole || is_in_doubt)
		store_scans_hurry(s);
}

// Before the first scan of all has ended, changes wait for its end. Scans take at most half of the time.
static int64_t scan_changes_when_due(void *ctx)
{
	struct store_scans *s = ctx;
	int64_t due = store_watch_due(atomic_load(&s->watch)), pause = TIMER_THREAD_UNTIL_WOKEN;
	if (due > 0)
		return due;
	pthread_mutex_lock(&s->changes_lock);
	if (due == 0 && s->has_store) {
		int64_t begun = clock_ms();
		scan_changes_now(s);
		pause = clock_ms() - begun;
		atomic_store(&s->changes_earliest_ms, begun + 2 * pause);
	}
	pthread_mutex_unlock(&s->changes_lock);
	return pause;
}

// --- all ---

static struct store_watch *start_watch(struct store_scans *s)
{
	struct err e = ERR_INIT;
	struct store_watch *watch = store_watch_new(on_store_change, s, &e);
	if (!watch && !s->has_failed_to_watch)
		log_warn("watch: %s: changes of the store are seen at the next scan", e.msg);
	s->has_failed_to_watch = !watch;
	atomic_store(&s->watch, watch);
	if (watch)
		timer_thread_start(s->changes_timer, 0);
	return watch;
}

// The store goes to the thread that scans what has changed.
static void end_watch(struct store_scans *s, struct store *store, struct store_watch *watch)
{
	store_watch_end(watch);
	pthread_mutex_lock(&s->changes_lock);
	store_release(&s->store);
	s->store = *store;
	*store = (struct store){.waited = store->waited};
	s->has_store = true;
	pthread_mutex_unlock(&s->changes_lock);
	timer_thread_wake(s->changes_timer);
}

// *has_looked: the scan has visited all that it could.
static int scan_store(struct store_scans *s, struct store *store, struct summary *summary, bool *has_looked,
	struct err *e)
{
	CLEANUP(catalog_cleanup) struct catalog *catalog = NULL;
	CLEANUP(mem_free) char *views = views_folder_or_none(&s->config);
	struct scan_options options = {
		.threads = (unsigned)s->config.index_threads,
		.settle = s->config.settle,
		.takes_facts = s->config.takes_facts,
		.inside_ms = INSIDE_MS,
		.is_logged = true,
		.views = views,
		.views_ms = STORE_PROMPT,
		.evidence_keep = s->config.evidence_keep,
		.owner = "wheelcache serve",
		.watch = {.progress = s->progress, .ctx = s->ctx, .cancel = &s->cancel},
	};
	if (catalog_open(s->catalog_path, &catalog, e) < 0 || store_register(store, catalog, e) < 0)
		return -1;
	// The watch begins before the scan, so that nothing is missed between them.
	struct store_watch *watch = atomic_load(&s->watch);
	bool is_wanted = strcmp(s->config.watch, "yes") == 0 ||
			 (strcmp(s->config.watch, "auto") == 0 && s->config.rescan);
	if (is_wanted && !watch)
		watch = start_watch(s);
	pthread_mutex_lock(&s->lock);
	s->watched.is_on = watch && is_wanted;
	pthread_mutex_unlock(&s->lock);
	if (watch) {
		struct err why = ERR_INIT; // the scan tells of it
		bool has_views = options.views && views_file_answers(options.views, options.views_ms, &why);
		store_watch_begin(watch, is_wanted ? store : NULL, has_views ? options.views : NULL);
		if (is_wanted) {
			options.on_folder = store_watch_folder;
			options.folder_ctx = watch;
		}
	}
	int code = scan_run(store, catalog, &options, summary, e);
	if (s->progress)
		s->end_progress(s->ctx);
	*has_looked = code == 0 || summary->number[SCAN_REPORT_PROBLEMS];
	if (*has_looked) {
		scan_log_summary("scan", summary);
		scan_log_tell(s->hooks, s->config.index_on_change, summary);
	}
	return code;
}

// Returns the duration in milliseconds, without the time spent waiting for file systems.
static int64_t scan_once(struct store_scans *s)
{
	struct err e = ERR_INIT;
	CLEANUP(store_release) struct store store = {0};
	CLEANUP(summary_release) struct summary summary = {0};
	int64_t begun = clock_ms();
	bool has_looked = false;
	bool has_failed = store_open(&s->config, STORE_PROMPT, &store, &e) < 0 ||
			  scan_store(s, &store, &summary, &has_looked, &e) < 0;
	s->progress = NULL;
	if (has_failed) {
		// An error that persists is logged once.
		bool is_new = !s->last_error || strcmp(s->last_error, e.msg) != 0;
		if (is_new && !atomic_load(&s->cancel))
			log_error("scan: %s", e.msg);
		free(s->last_error);
		s->last_error = xstrdup(e.msg);
	} else
		mem_free(&s->last_error);
	struct store_watch *watch = atomic_load(&s->watch);
	if (watch && has_looked)
		end_watch(s, &store, watch);
	if (summary.number[SCAN_REPORT_INSIDE] && summary.number[SCAN_REPORT_INSIDE_LACKING])
		store_scans_hurry(s); // to look inside further wheels
	pthread_mutex_lock(&s->lock);
	s->state.is_running = false;
	s->state.has_failed = has_failed;
	s->state.has_looked |= has_looked;
	s->state.ended = has_failed ? s->state.ended : time(NULL);
	pthread_mutex_unlock(&s->lock);
	if (s->on_end)
		s->on_end(s->ctx);
	return clock_ms() - begun - store.waited;
}

static int64_t scan_periodically(void *ctx)
{
	struct store_scans *s = ctx;
	pthread_mutex_lock(&s->changes_lock);
	pthread_mutex_lock(&s->lock);
	s->state.is_hurried = false;
	s->state.is_running = true;
	s->earliest_ms = INT64_MAX;
	if (s->has_next) {
		config_release(&s->config);
		s->config = s->next;
		s->has_next = false;
	}
	pthread_mutex_unlock(&s->lock);
	pthread_mutex_unlock(&s->changes_lock);
	// With rescan = 0 it lasts until store_scans_wake.
	int64_t took = scan_once(s);
	int64_t rest = took * PAUSE_FACTOR > MIN_PAUSE ? took * PAUSE_FACTOR : MIN_PAUSE;
	int64_t usual = (int64_t)s->config.rescan * 1000;
	pthread_mutex_lock(&s->lock);
	s->earliest_ms = clock_ms() + rest;
	bool is_hurried = s->state.is_hurried;
	pthread_mutex_unlock(&s->lock);
	if (is_hurried)
		return rest;
	if (!usual)
		return TIMER_THREAD_UNTIL_WOKEN;
	return usual > rest ? usual : rest;
}

// --- the callers ---

// Moves a configuration. The source can still be released.
static struct config move_config(struct config *config)
{
	struct config taken = *config;
	*config = (struct config){0};
	return taken;
}

struct store_scans *store_scans_new(const struct store_scans_options *o)
{
	struct store_scans *s = xcalloc(1, sizeof(*s));
	s->config = move_config(o->config);
	s->catalog_path = xstrdup(o->catalog_path);
	s->on_end = o->on_end;
	s->progress = o->progress;
	s->end_progress = o->end_progress;
	s->ctx = o->ctx;
	s->earliest_ms = INT64_MAX;
	pthread_mutex_init(&s->lock, NULL);
	pthread_mutex_init(&s->changes_lock, NULL);
	s->timer = timer_thread_new(scan_periodically, s);
	s->changes_timer = timer_thread_new(scan_changes_when_due, s);
	s->hooks = hook_queue_new("[index]");
	return s;
}

void store_scans_start(struct store_scans *s, int64_t first_ms)
{
	pthread_mutex_lock(&s->lock); // the server answers already
	s->state.is_running = true;
	pthread_mutex_unlock(&s->lock);
	timer_thread_start(s->timer, first_ms);
}

void store_scans_configure(struct store_scans *s, struct config *config)
{
	pthread_mutex_lock(&s->lock);
	if (s->has_next)
		config_release(&s->next);
	s->next = move_config(config);
	s->has_next = true;
	pthread_mutex_unlock(&s->lock);
}

void store_scans_wake(struct store_scans *s)
{
	timer_thread_wake(s->timer);
}

void store_scans_hurry(struct store_scans *s)
{
	pthread_mutex_lock(&s->lock);
	s->state.is_hurried = true;
	timer_thread_wake_by(s->timer, s->earliest_ms);
	pthread_mutex_unlock(&s->lock);
}

struct store_scans_state store_scans_state(struct store_scans *s)
{
	pthread_mutex_lock(&s->lock);
	struct store_scans_state state = s->state;
	pthread_mutex_unlock(&s->lock);
	return state;
}

struct store_scans_watch store_scans_watch(struct store_scans *s)
{
	struct store_watch *watch = atomic_load(&s->watch);
	pthread_mutex_lock(&s->lock);
	struct store_scans_watch state = s->watched;
	pthread_mutex_unlock(&s->lock);
	if (watch)
		store_watch_count(watch, &state.seen);
	return state;
}

bool store_scans_watches(struct store_scans *s, const char *platform, const char **silent)
{
	struct store_watch *watch = atomic_load(&s->watch);
	*silent = NULL;
	return watch && store_watch_has(watch, platform, silent);
}

void store_scans_stop(struct store_scans *s)
{
	if (!s)
		return;
	atomic_store(&s->cancel, true);
	timer_thread_stop(s->timer);
	timer_thread_stop(s->changes_timer);
}

void store_scans_free(struct store_scans *s)
{
	if (!s)
		return;
	if (s->has_next)
		config_release(&s->next);
	config_release(&s->config);
	timer_thread_free(s->timer);
	store_watch_free(atomic_load(&s->watch));
	timer_thread_free(s->changes_timer);
	hook_queue_free(s->hooks, HOOK_SECONDS);
	store_release(&s->store);
	pthread_mutex_destroy(&s->lock);
	pthread_mutex_destroy(&s->changes_lock);
	free(s->last_error);
	free(s->catalog_path);
	free(s);
}
