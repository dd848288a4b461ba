// SPDX-License-Identifier: Apache-2.0
#include "cli/common/background-scan.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/common/progress.h"
#include "indexer/scan/scan.h"
#include "lib/base/log.h"
#include "lib/os/clock.h"

enum {
	REST = 20,          // a scan is followed by a pause of so many times its length: 5 % of the time goes to scans
	LEAST_PAUSE = 1000, // milliseconds
};

struct background_scan {
	struct config config; // the thread's own
	char *catalog_path;
	void (*on_end)(void *ctx);
	void *ctx;
	bool is_shown;   // the next scan is, on the terminal
	char *complaint; // what the last scan ended with; NULL: well
	pthread_t thread;
	bool is_started;
	pthread_mutex_t lock;
	pthread_cond_t wake;
	struct config next; // this and what follows under lock
	bool has_next, is_woken, is_hurried, is_ending;
	struct server_callbacks_scans state;
	_Atomic bool cancel;
};

static void log_summary(const struct summary *s)
{
	const uint64_t *n = s->number;
	size_t hidden = 0;
	if (n[SCAN_REPORT_ADDED] || n[SCAN_REPORT_CHANGED] || n[SCAN_REPORT_GONE])
		log_info("scan: %llu added, %llu changed, %llu gone, %llu quarantined, %.1f s",
			(unsigned long long)n[SCAN_REPORT_ADDED], (unsigned long long)n[SCAN_REPORT_CHANGED],
			(unsigned long long)n[SCAN_REPORT_GONE], (unsigned long long)n[SCAN_REPORT_QUARANTINED],
			s->seconds);
	for (size_t i = 0; i < s->list[SCAN_REPORT_LIST_CHANGED].count; i++) {
		const struct summary_item *item = &s->list[SCAN_REPORT_LIST_CHANGED].item[i];
		hidden += item->is_private;
		(item->is_private ? log_debug : log_warn)("scan: other bytes under a known name: %s", item->field[0]);
	}
	if (hidden)
		log_warn("scan: other bytes under %zu known names of private platforms (--log-level debug names them)",
			hidden);
}

// A trouble that lasts is told once.
static void complain(struct background_scan *s, const char *text)
{
	bool is_new = !s->complaint || strcmp(s->complaint, text) != 0;
	if (is_new && !atomic_load(&s->cancel))
		log_error("scan: %s", text);
	free(s->complaint);
	s->complaint = xstrdup(text);
}

// *has_looked: it came to its end.
static int scan_store(struct background_scan *s, struct store *store, struct summary *summary, bool *has_looked,
	struct err *e)
{
	CLEANUP(catalog_cleanup) struct catalog *catalog = NULL;
	struct progress progress;
	struct scan_options options = {
		.threads = (unsigned)s->config.index_threads,
		.settle = s->config.settle,
		.is_logged = true,
		.owner = "wheelcache serve",
		.watch = {.progress = progress_walk, .ctx = &progress, .cancel = &s->cancel},
	};
	if (catalog_open(s->catalog_path, &catalog, e) < 0 || store_register(store, catalog, e) < 0)
		return -1;
	progress_begin(&progress, s->is_shown);
	int code = scan_run(store, catalog, &options, summary, e);
	progress_end(&progress);
	*has_looked = code == 0 || summary->number[SCAN_REPORT_PROBLEMS];
	if (*has_looked)
		log_summary(summary);
	return code;
}

static void set_running(struct background_scan *s)
{
	pthread_mutex_lock(&s->lock);
	s->state.is_running = true;
	pthread_mutex_unlock(&s->lock);
}

static void set_ended(struct background_scan *s, bool has_failed, bool has_looked, uint64_t quarantined)
{
	pthread_mutex_lock(&s->lock);
	s->state = (struct server_callbacks_scans){
		.has_failed = has_failed,
		.has_looked = has_looked || s->state.has_looked,
		.quarantined = quarantined,
		.ended = has_failed ? s->state.ended : time(NULL),
	};
	pthread_mutex_unlock(&s->lock);
}

// Returns how long it was at work, in milliseconds.
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
		complain(s, e.msg);
	else
		mem_free(&s->complaint);
	set_ended(s, has_failed, has_looked, summary.number[SCAN_REPORT_QUARANTINED]);
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

// Until it is time, or somebody wakes us. Where no rescan is configured: until somebody does.
static void pause_after(struct background_scan *s, int64_t took)
{
	int64_t now = clock_ms();
	int64_t rest = took * REST > LEAST_PAUSE ? took * REST : LEAST_PAUSE;
	int64_t usual = (int64_t)s->config.rescan * 1000;
	int64_t end = usual ? now + (usual > rest ? usual : rest) : INT64_MAX;
	while (!s->is_woken && !s->is_ending) {
		int64_t until = s->is_hurried ? now + rest : end;
		if (until == INT64_MAX)
			pthread_cond_wait(&s->wake, &s->lock);
		else if (clock_ms() >= until)
			break;
		else
			clock_wait(&s->wake, &s->lock, until);
	}
	s->is_woken = s->is_hurried = false;
}

static void take_next(struct background_scan *s)
{
	if (!s->has_next)
		return;
	config_release(&s->config);
	s->config = s->next;
	s->has_next = false;
}

static void *run(void *ctx)
{
	struct background_scan *s = ctx;
	pthread_mutex_lock(&s->lock);
	while (!s->is_ending) {
		take_next(s);
		pthread_mutex_unlock(&s->lock);
		int64_t took = scan_once(s);
		pthread_mutex_lock(&s->lock);
		pause_after(s, took);
	}
	pthread_mutex_unlock(&s->lock);
	return NULL;
}

// Hands a configuration over; what it came from can be released once more.
static struct config take_over(struct config *config)
{
	struct config taken = *config;
	*config = (struct config){0};
	return taken;
}

struct background_scan *background_scan_new(struct config *config, const char *catalog_path, void (*on_end)(void *ctx),
	void *ctx, bool is_shown)
{
	struct background_scan *s = xcalloc(1, sizeof(*s));
	s->config = take_over(config);
	s->catalog_path = xstrdup(catalog_path);
	s->on_end = on_end;
	s->ctx = ctx;
	s->is_shown = is_shown;
	pthread_mutex_init(&s->lock, NULL);
	clock_cond_init(&s->wake);
	return s;
}

void background_scan_start(struct background_scan *s)
{
	s->is_started = true;
	if (pthread_create(&s->thread, NULL, run, s) != 0)
		abort();
}

void background_scan_configure(struct background_scan *s, struct config *config)
{
	pthread_mutex_lock(&s->lock);
	if (s->has_next)
		config_release(&s->next);
	s->next = take_over(config);
	s->has_next = true;
	pthread_mutex_unlock(&s->lock);
}

static void set(struct background_scan *s, bool *flag)
{
	pthread_mutex_lock(&s->lock);
	*flag = true;
	pthread_cond_signal(&s->wake);
	pthread_mutex_unlock(&s->lock);
}

void background_scan_wake(struct background_scan *s)
{
	set(s, &s->is_woken);
}

void background_scan_hurry(struct background_scan *s)
{
	set(s, &s->is_hurried);
}

void background_scan_stop(struct background_scan *s)
{
	if (!s || !s->is_started)
		return;
	atomic_store(&s->cancel, true);
	set(s, &s->is_ending);
	pthread_join(s->thread, NULL);
}

void background_scan_free(struct background_scan *s)
{
	if (!s)
		return;
	if (s->has_next)
		config_release(&s->next);
	config_release(&s->config);
	pthread_cond_destroy(&s->wake);
	pthread_mutex_destroy(&s->lock);
	free(s->complaint);
	free(s->catalog_path);
	free(s);
}
