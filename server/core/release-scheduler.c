// SPDX-License-Identifier: Apache-2.0
#include "server/core/release-scheduler.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/log.h"
#include "lib/os/clock.h"
#include "lib/os/timer-thread.h"
#include "lib/state/access/audit.h"
#include "lib/state/store/release.h"

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

static void begin_release(struct release_worker *w, const struct platform *p)
{
	pthread_mutex_lock(&w->scheduler->lock);
	bool stops = timer_thread_is_stopping(w->timer);
	w->state.is_running = true;
	atomic_store(&w->end_ms, clock_ms() + (stops ? 0 : (int64_t)p->release_timeout * 1000));
	pthread_mutex_unlock(&w->scheduler->lock);
}

static void note_success(struct release_worker *w, bool did)
{
	struct server_context *s = w->scheduler->context;
	if (did && w->state.failures)
		log_info("platform %s: released, after %u failures", w->platform, w->state.failures);
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

// An error that lasts is logged once.
static void note_failure(struct release_worker *w, const struct err *why)
{
	int64_t pause = RETRY_MS;
	for (unsigned i = 0; i < w->state.failures && pause < RETRY_MOST_MS; i++)
		pause *= 2;
	bool is_new = !w->state.failures || strcmp(w->state.error, why->msg) != 0;
	(is_new ? log_error : log_debug)("platform %s: it is not released: %s", w->platform, why->msg);
	pthread_mutex_lock(&w->scheduler->lock);
	w->state.failures++;
	memcpy(w->state.error, why->msg, sizeof(w->state.error));
	pthread_mutex_unlock(&w->scheduler->lock);
	w->due_ms = clock_ms() + (pause < RETRY_MOST_MS ? pause : RETRY_MOST_MS);
	write_release_audit(w, "failed", why->msg);
}

static void run_release(struct release_worker *w, const struct platform *p)
{
	struct err e = ERR_INIT;
	begin_release(w, p);
	int done = release_run(w->scheduler->context->catalog_path, p, &w->end_ms, false, &e);
	pthread_mutex_lock(&w->scheduler->lock);
	w->state.is_running = false;
	pthread_mutex_unlock(&w->scheduler->lock);
	if (done >= 0)
		note_success(w, done > 0);
	else if (e.kind == ERR_BUSY)
		w->due_ms = clock_ms() + RETRY_MS; // another release of this volume is running
	else
		note_failure(w, &e);
}

// --- the threads ---

static int64_t check_release(void *ctx)
{
	struct release_worker *w = ctx;
	int64_t since;
	const struct release_scheduler *r = w->scheduler;
	const struct platform *p = site_platform(server_context_site(r->context), str_from(w->platform));
	bool is_wanted = p && release_is_wanted(r->context->catalog_path, p, &since);
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

static void add_worker(struct release_scheduler *r, const char *platform)
{
	struct release_worker *w = xcalloc(1, sizeof(*w));
	w->scheduler = r;
	w->platform = xstrdup(platform);
	w->timer = timer_thread_new(check_release, w);
	pthread_mutex_lock(&r->lock);
	GROW(r->worker, r->count, r->room);
	r->worker[r->count++] = w;
	pthread_mutex_unlock(&r->lock);
	timer_thread_start(w->timer, 0);
}

void release_scheduler_update(struct release_scheduler *r)
{
	const struct store *store = &server_context_site(r->context)->store;
	for (size_t i = 0; i < store->platform_count; i++)
		if (store->platform[i].release && !find_worker(r, store->platform[i].name))
			add_worker(r, store->platform[i].name);
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
