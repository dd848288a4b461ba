// SPDX-License-Identifier: Apache-2.0
#include "server/core/platform-monitor.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/buf.h"
#include "lib/base/log.h"
#include "lib/os/timer-thread.h"
#include "lib/state/store/freeze.h"
#include "lib/state/store/quota.h"
#include "lib/state/store/retired.h"
#include "server/core/pagecache.h"

enum {
	ROUND_MS = 1000,
	ROUNDS_PER_COUNT = 5, // adding up file sizes costs more than a look at a mark
};

struct platform_entry {
	char *name;
	struct platform_monitor_state state;
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

static void put_state(struct platform_monitor *m, const char *name, const struct platform_monitor_state *state)
{
	pthread_mutex_lock(&m->lock);
	struct platform_entry *entry = find_platform_entry(m, name);
	if (!entry) {
		GROW(m->entry, m->count, m->room);
		entry = &m->entry[m->count++];
		entry->name = xstrdup(name);
	}
	entry->state = *state;
	pthread_mutex_unlock(&m->lock);
}

// Leaves the state as it is where the folder cannot be read: the scan reports that.
static void update_frozen(const struct platform *p, struct platform_monitor_state *state)
{
	struct err ignored = ERR_INIT;
	CLEANUP(buf_release) struct buf why;
	buf_init(&why, SIZE_MAX / 2); // freeze_is() has a limit
	int frozen = freeze_is(p, &why, &ignored);
	if (frozen < 0)
		return;
	struct str words = buf_view(&why);
	if (words.len >= sizeof(state->reason))
		words.len = sizeof(state->reason) - 1;
	while (words.len && !str_is_utf8(words))
		words.len--; // do not cut a character
	state->is_frozen = frozen;
	memcpy(state->reason, words.ptr, words.len);
	state->reason[words.len] = '\0';
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

// Pages leave out a retired platform, and no change of the catalog says that they are old.
static void note_retirement(struct platform_monitor *m, const struct platform *p, const struct platform_monitor_state *now)
{
	if (retired_note(p, now->is_frozen && freeze_is_retirement(str_from(now->reason))))
		pagecache_clear(m->context->pagecache);
}

static void log_changes(const struct platform *p, const struct platform_monitor_state *before,
	const struct platform_monitor_state *now)
{
	bool was_near = before->quota_percent >= QUOTA_WARNING, is_near = now->quota_percent >= QUOTA_WARNING;
	if (now->is_frozen && (!before->is_frozen || strcmp(before->reason, now->reason) != 0))
		log_info("platform %s is frozen: %s", p->name, now->reason);
	if (before->is_frozen && !now->is_frozen)
		log_info("platform %s is thawed", p->name);
	if (is_near && !was_near)
		log_warn("platform %s: %u %% of its quota is used", p->name, now->quota_percent);
	if (was_near && !is_near)
		log_info("platform %s: only %u %% of its quota is used again", p->name, now->quota_percent);
}

static void update_platform(struct platform_monitor *m, const struct platform *p, bool counts)
{
	struct platform_monitor_state before = {0};
	platform_monitor_get(m, p->name, &before);
	struct platform_monitor_state now = before;
	update_frozen(p, &now);
	if (counts)
		update_quota(m, p, &now);
	log_changes(p, &before, &now);
	put_state(m, p->name, &now);
	note_retirement(m, p, &now);
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
