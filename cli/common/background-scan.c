// SPDX-License-Identifier: Apache-2.0
#include "cli/common/background-scan.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/common/progress.h"
#include "cli/common/scan-log.h"
#include "cli/common/watched-scan.h"
#include "indexer/scan/scan.h"
#include "lib/base/log.h"
#include "lib/os/clock.h"
#include "lib/os/timer-thread.h"
#include "lib/state/views/membership.h"

enum {
	PAUSE_FACTOR = 20, // the pause is at least 20 times as long as the scan: scans take at most 5 % of the time
	MIN_PAUSE = 1000,  // milliseconds
	HOOK_SECONDS = 5,  // for commands of on-change at the stop
	INSIDE_MS = 5000,  // milliseconds of a scan for the facts that the catalog lacks; new files wait for its end
};

struct background_scan {
	struct config config; // used by the thread only
	char *catalog_path;
	void (*on_end)(void *ctx);
	void *ctx;
	bool is_shown;    // the next scan draws a progress line
	char *last_error; // of the last scan; NULL: it succeeded
	struct timer_thread *timer;
	struct watched_scan *watched;
	struct hook_queue *hooks; // of [index] on-change
	pthread_mutex_t lock;
	struct config next; // this and the following members are guarded by lock
	bool has_next, is_hurried;
	int64_t earliest_ms; // the earliest start of a hurried scan, by clock_ms(); INT64_MAX during a scan
	struct server_callbacks_scans state;
	_Atomic bool cancel;
};

// An error that persists is logged once.
static void log_new_error(struct background_scan *s, const char *text)
{
	bool is_new = !s->last_error || strcmp(s->last_error, text) != 0;
	if (is_new && !atomic_load(&s->cancel))
		log_error("scan: %s", text);
	free(s->last_error);
	s->last_error = xstrdup(text);
}

// *has_looked: the scan has visited all that it could.
static int scan_store(struct background_scan *s, struct store *store, struct summary *summary, bool *has_looked,
	struct err *e)
{
	CLEANUP(catalog_cleanup) struct catalog *catalog = NULL;
	CLEANUP(mem_free) char *views = views_folder_or_none(&s->config);
	struct progress progress;
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
		.watch = {.progress = progress_walk, .ctx = &progress, .cancel = &s->cancel},
	};
	if (catalog_open(s->catalog_path, &catalog, e) < 0 || store_register(store, catalog, e) < 0)
		return -1;
	watched_scan_begin(s->watched, &s->config, store, &options);
	progress_begin(&progress, s->is_shown);
	int code = scan_run(store, catalog, &options, summary, e);
	progress_end(&progress);
	*has_looked = code == 0 || summary->number[SCAN_REPORT_PROBLEMS];
	if (*has_looked)
		scan_log_summary("scan", summary);
	if (*has_looked)
		scan_log_tell(s->hooks, s->config.index_on_change, summary);
	return code;
}

static void set_running(struct background_scan *s)
{
	pthread_mutex_lock(&s->lock);
	s->state.is_running = true;
	pthread_mutex_unlock(&s->lock);
}

static void set_ended(struct background_scan *s, bool has_failed, bool has_looked)
{
	pthread_mutex_lock(&s->lock);
	s->state = (struct server_callbacks_scans){
		.has_failed = has_failed,
		.has_looked = has_looked || s->state.has_looked,
		.ended = has_failed ? s->state.ended : time(NULL),
	};
	pthread_mutex_unlock(&s->lock);
}

// Returns the duration in milliseconds, without the time spent waiting for file systems.
static int64_t scan_once(struct background_scan *s)
{
	struct err e = ERR_INIT;
	CLEANUP(store_release) struct store store = {0};
	CLEANUP(summary_release) struct summary summary = {0};
	int64_t begun = clock_ms();
	bool has_looked = false;
	set_running(s);
	bool has_failed = store_open(&s->config, STORE_PROMPT, &store, &e) < 0 ||
			  scan_store(s, &store, &summary, &has_looked, &e) < 0;
	s->is_shown = false;
	if (has_failed)
		log_new_error(s, e.msg);
	else
		mem_free(&s->last_error);
	watched_scan_end(s->watched, &store, has_looked);
	if (summary.number[SCAN_REPORT_INSIDE] && summary.number[SCAN_REPORT_INSIDE_LACKING])
		background_scan_hurry(s); // to look inside further wheels
	set_ended(s, has_failed, has_looked);
	s->on_end(s->ctx);
	return clock_ms() - begun - store.waited;
}

struct server_callbacks_scans background_scan_state(struct background_scan *s)
{
	pthread_mutex_lock(&s->lock);
	struct server_callbacks_scans state = s->state;
	pthread_mutex_unlock(&s->lock);
	return state;
}

static void begin_scan(struct background_scan *s)
{
	pthread_mutex_lock(&s->lock);
	s->is_hurried = false;
	s->earliest_ms = INT64_MAX;
	if (s->has_next) {
		config_release(&s->config);
		s->config = s->next;
		s->has_next = false;
	}
	pthread_mutex_unlock(&s->lock);
}

// Returns the pause before the next scan. With rescan = 0 it lasts until background_scan_wake.
static int64_t end_scan(struct background_scan *s, int64_t took)
{
	int64_t rest = took * PAUSE_FACTOR > MIN_PAUSE ? took * PAUSE_FACTOR : MIN_PAUSE;
	int64_t usual = (int64_t)s->config.rescan * 1000;
	pthread_mutex_lock(&s->lock);
	s->earliest_ms = clock_ms() + rest;
	bool is_hurried = s->is_hurried;
	pthread_mutex_unlock(&s->lock);
	if (is_hurried)
		return rest;
	if (!usual)
		return TIMER_THREAD_UNTIL_WOKEN;
	return usual > rest ? usual : rest;
}

static int64_t scan_periodically(void *ctx)
{
	struct background_scan *s = ctx;
	begin_scan(s);
	return end_scan(s, scan_once(s));
}

// Moves a configuration. The source can still be released.
static struct config move_config(struct config *config)
{
	struct config taken = *config;
	*config = (struct config){0};
	return taken;
}

static void hurry_for_watch(void *ctx)
{
	background_scan_hurry(ctx);
}

struct watched_scan *background_scan_watch(struct background_scan *s)
{
	return s->watched;
}

struct background_scan *background_scan_new(struct config *config, const char *catalog_path, void (*on_end)(void *ctx),
	void *ctx, bool is_shown)
{
	struct background_scan *s = xcalloc(1, sizeof(*s));
	s->config = move_config(config);
	s->catalog_path = xstrdup(catalog_path);
	s->on_end = on_end;
	s->ctx = ctx;
	s->is_shown = is_shown;
	s->earliest_ms = INT64_MAX;
	pthread_mutex_init(&s->lock, NULL);
	s->timer = timer_thread_new(scan_periodically, s);
	s->hooks = hook_queue_new("[index]");
	s->watched = watched_scan_new(catalog_path, hurry_for_watch, s, &s->cancel, s->hooks);
	return s;
}

void background_scan_start(struct background_scan *s)
{
	timer_thread_start(s->timer, 0);
}

void background_scan_configure(struct background_scan *s, struct config *config)
{
	pthread_mutex_lock(&s->lock);
	if (s->has_next)
		config_release(&s->next);
	s->next = move_config(config);
	s->has_next = true;
	pthread_mutex_unlock(&s->lock);
}

void background_scan_wake(struct background_scan *s)
{
	timer_thread_wake(s->timer);
}

void background_scan_hurry(struct background_scan *s)
{
	pthread_mutex_lock(&s->lock);
	s->is_hurried = true;
	timer_thread_wake_by(s->timer, s->earliest_ms);
	pthread_mutex_unlock(&s->lock);
}

void background_scan_stop(struct background_scan *s)
{
	if (!s)
		return;
	atomic_store(&s->cancel, true);
	timer_thread_stop(s->timer);
	watched_scan_stop(s->watched);
}

void background_scan_free(struct background_scan *s)
{
	if (!s)
		return;
	if (s->has_next)
		config_release(&s->next);
	config_release(&s->config);
	timer_thread_free(s->timer);
	watched_scan_free(s->watched);
	hook_queue_free(s->hooks, HOOK_SECONDS);
	pthread_mutex_destroy(&s->lock);
	free(s->last_error);
	free(s->catalog_path);
	free(s);
}
