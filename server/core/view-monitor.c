// SPDX-License-Identifier: Apache-2.0
#include "server/core/view-monitor.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/log.h"
#include "lib/os/clock.h"
#include "lib/os/timer-thread.h"

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
