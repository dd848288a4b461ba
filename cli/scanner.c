// SPDX-License-Identifier: Apache-2.0
#include "cli/scanner.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#include "cli/progress.h"
#include "indexer/scan.h"
#include "lib/base/log.h"

enum {
	REST = 20, // a scan is followed by a pause of so many times its length: at most 5 % of the time goes to scans
};

struct scanner {
	struct config config; // the thread's own
	char *catalog_path;
	struct scanner_events events;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t wake;
	struct config next; // under lock, where has_next
	bool has_next, is_woken, is_ending;
	bool is_shown; // the next scan is, on the terminal
	_Atomic bool cancel;
};

static void log_summary(const struct summary *s)
{
	const uint64_t *n = s->number;
	if (n[SUMMARY_ADDED] || n[SUMMARY_CHANGED] || n[SUMMARY_GONE])
		log_info("scan: %llu added, %llu changed, %llu gone, %llu quarantined, %.1f s",
			(unsigned long long)n[SUMMARY_ADDED], (unsigned long long)n[SUMMARY_CHANGED],
			(unsigned long long)n[SUMMARY_GONE], (unsigned long long)n[SUMMARY_QUARANTINED], s->seconds);
	for (size_t i = 0; i < s->list[LIST_CHANGED].count; i++)
		log_warn("scan: other bytes under a known name: %s", s->list[LIST_CHANGED].item[i].field[0]);
	for (size_t i = 0; i < s->list[LIST_PROBLEMS].count; i++)
		log_error("scan: %s", s->list[LIST_PROBLEMS].item[i].field[0]);
}

static int scan_store(struct scanner *s, struct store *store, double *seconds, struct err *e)
{
	CLEANUP(catalog_cleanup) struct catalog *catalog = NULL;
	CLEANUP(summary_release) struct summary summary = {0};
	struct progress progress;
	struct scan_options options = {
		.threads = (unsigned)s->config.index_threads,
		.settle = s->config.settle,
		.owner = "wheelcache serve",
		.cancel = &s->cancel,
		.progress = progress_scan,
		.ctx = &progress,
	};
	if (catalog_open(s->catalog_path, &catalog, e) < 0 || store_register(store, catalog, e) < 0)
		return -1;
	progress_begin(&progress, s->is_shown);
	int result = scan_run(store, catalog, &options, &summary, e);
	progress_end(&progress);
	s->is_shown = false;
	*seconds = summary.seconds;
	log_summary(&summary);
	return result;
}

static double scan_once(struct scanner *s)
{
	struct err e = ERR_INIT;
	CLEANUP(store_release) struct store store = {0};
	double seconds = 0;
	s->events.began(s->events.ctx);
	int result = store_open(&s->config, &store, &e) < 0 ? -1 : scan_store(s, &store, &seconds, &e);
	s->events.ended(s->events.ctx, result < 0 ? e.msg : NULL);
	return seconds;
}

// Until it is time, or somebody wakes us. Where no rescan is configured: until somebody does.
static void pause_after(struct scanner *s, double seconds)
{
	uint64_t pause = s->config.rescan;
	if (pause && (double)pause < seconds * REST)
		pause = (uint64_t)(seconds * REST);
	struct timespec until;
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += (time_t)pause;
	for (int code = 0; !s->is_woken && !s->is_ending && code != ETIMEDOUT;)
		code = pause ? pthread_cond_timedwait(&s->wake, &s->lock, &until)
			     : pthread_cond_wait(&s->wake, &s->lock);
	s->is_woken = false;
}

static void take_next(struct scanner *s)
{
	if (!s->has_next)
		return;
	config_release(&s->config);
	s->config = s->next;
	s->has_next = false;
}

static void *run(void *ctx)
{
	struct scanner *s = ctx;
	pthread_mutex_lock(&s->lock);
	while (!s->is_ending) {
		take_next(s);
		pthread_mutex_unlock(&s->lock);
		double seconds = scan_once(s);
		pthread_mutex_lock(&s->lock);
		pause_after(s, seconds);
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

struct scanner *scanner_start(struct config *config, const char *catalog_path, const struct scanner_events *events,
	bool is_shown)
{
	struct scanner *s = xcalloc(1, sizeof(*s));
	s->config = take_over(config);
	s->catalog_path = xstrdup(catalog_path);
	s->events = *events;
	s->is_shown = is_shown;
	pthread_mutex_init(&s->lock, NULL);
	pthread_cond_init(&s->wake, NULL);
	if (pthread_create(&s->thread, NULL, run, s) != 0)
		abort();
	return s;
}

void scanner_configure(struct scanner *s, struct config *config)
{
	pthread_mutex_lock(&s->lock);
	if (s->has_next)
		config_release(&s->next);
	s->next = take_over(config);
	s->has_next = true;
	pthread_mutex_unlock(&s->lock);
}

void scanner_wake(struct scanner *s)
{
	pthread_mutex_lock(&s->lock);
	s->is_woken = true;
	pthread_cond_signal(&s->wake);
	pthread_mutex_unlock(&s->lock);
}

void scanner_stop(struct scanner *s)
{
	if (!s)
		return;
	atomic_store(&s->cancel, true);
	pthread_mutex_lock(&s->lock);
	s->is_ending = true;
	pthread_cond_signal(&s->wake);
	pthread_mutex_unlock(&s->lock);
	pthread_join(s->thread, NULL);
}

void scanner_free(struct scanner *s)
{
	if (!s)
		return;
	if (s->has_next)
		config_release(&s->next);
	config_release(&s->config);
	pthread_cond_destroy(&s->wake);
	pthread_mutex_destroy(&s->lock);
	free(s->catalog_path);
	free(s);
}
