// SPDX-License-Identifier: Apache-2.0
#include "server/core/silence-monitor.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/log.h"
#include "lib/os/clock.h"
#include "lib/os/timer-thread.h"

enum { LOOK_MS = 5000 };

struct monitored_view {
	char *name;
	struct view_silences silences;
};

struct silence_monitor {
	struct server_context *context;
	struct timer_thread *timer;
	struct catalog *catalog; // of the timer thread; NULL: it is not open
	bool has_failed;         // the last look, and it was logged
	pthread_mutex_t lock;    // of the fields below; only the timer thread writes them
	struct monitored_view *view;
	size_t count, room;
};

static void free_views(struct silence_monitor *m)
{
	while (m->count) {
		free(m->view[--m->count].name);
		view_silences_release(&m->view[m->count].silences);
	}
}

void silence_monitor_each(struct silence_monitor *m, const char *view, silence_monitor_fn *fn, void *ctx)
{
	if (!m)
		return;
	pthread_mutex_lock(&m->lock);
	for (size_t i = 0; i < m->count; i++)
		for (size_t k = 0; strcmp(m->view[i].name, view) == 0 && k < m->view[i].silences.count; k++)
			if (m->view[i].silences.item[k].is_silent)
				fn(ctx, &m->view[i].silences.item[k]);
	pthread_mutex_unlock(&m->lock);
}

static void keep_silences(struct silence_monitor *m, const char *name, const struct view_silences *s)
{
	GROW(m->view, m->count, m->room);
	m->view[m->count++] = (struct monitored_view){xstrdup(name), *s};
}

// Puts what the catalog has now in the place of what was kept.
static int recall_views(struct silence_monitor *m, const struct config *c, int64_t now, struct err *e)
{
	int result = 0;
	pthread_mutex_lock(&m->lock);
	free_views(m);
	for (size_t i = 0; i < c->view_count && result == 0; i++) {
		struct view_silences s = {0};
		if (!c->views[i].expect)
			continue;
		result = view_silence_read(&c->views[i], m->catalog, now, false, &s, e);
		keep_silences(m, c->views[i].name, &s);
	}
	pthread_mutex_unlock(&m->lock);
	return result;
}

static int look_at_views(struct silence_monitor *m, const struct config *c, struct err *e)
{
	int64_t now = clock_wall_seconds();
	bool expects = m->count > 0;
	for (size_t i = 0; i < c->view_count; i++)
		expects |= c->views[i].expect != NULL;
	if (!expects)
		return 0;
	if (!m->catalog && catalog_open(m->context->catalog_path, &m->catalog, e) < 0)
		return -1;
	for (size_t i = 0; i < c->view_count && !timer_thread_is_stopping(m->timer); i++)
		if (view_silence_note(&c->views[i], m->catalog, now, m->context->view_hooks, e) < 0)
			return -1;
	return recall_views(m, c, now, e);
}

static int64_t look_for_silence(void *ctx)
{
	struct silence_monitor *m = ctx;
	struct err e = ERR_INIT;
	if (!atomic_load(&m->context->is_filled))
		return LOOK_MS;
	bool has_failed = look_at_views(m, &server_context_site(m->context)->config, &e) < 0;
	if (has_failed && !m->has_failed)
		log_error("what views expect is not known: %s", e.msg);
	if (has_failed)
		catalog_close(STEAL_PTR(m->catalog)); // it may have been removed
	m->has_failed = has_failed;
	return LOOK_MS;
}

struct silence_monitor *silence_monitor_start(struct server_context *s)
{
	struct silence_monitor *m = xcalloc(1, sizeof(*m));
	m->context = s;
	pthread_mutex_init(&m->lock, NULL);
	m->timer = timer_thread_new(look_for_silence, m);
	timer_thread_start(m->timer, 0);
	return m;
}

void silence_monitor_stop(struct silence_monitor *m)
{
	if (!m)
		return;
	timer_thread_free(m->timer);
	free_views(m);
	free(m->view);
	catalog_close(m->catalog);
	pthread_mutex_destroy(&m->lock);
	free(m);
}
