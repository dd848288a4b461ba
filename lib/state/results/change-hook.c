// SPDX-License-Identifier: Apache-2.0
#include "lib/state/results/change-hook.h"

#include <pthread.h>
#include <stdlib.h>

#include "lib/base/log.h"
#include "lib/os/clock.h"
#include "lib/os/hook.h"

enum { VARIABLES = 12 };

struct build_change {
	char *command;
	char *platform, *python, *project, *version;
	char *variable[VARIABLES + 1]; // NULL at the end
};

struct change_hook {
	pthread_mutex_t lock; // of all that follows
	pthread_cond_t changed;
	struct build_change *queue[CHANGE_HOOK_QUEUE]; // a ring
	size_t first, count;
	size_t dropped; // changes, in all
	bool has_thread, is_ending;
	pthread_t thread;
	int64_t last_ms;         // while it ends: when the last command is ended
	_Atomic int64_t ends_ms; // of the running command
};

// --- one change ---

static void free_change(struct build_change **c)
{
	if (!*c)
		return;
	for (size_t i = 0; i < VARIABLES; i++)
		free((*c)->variable[i]);
	free((*c)->command);
	free((*c)->platform);
	free((*c)->python);
	free((*c)->project);
	free((*c)->version);
	free(*c);
}

static struct build_change *copy_change(const char *command, const struct results_attempt *a,
	enum results_change change)
{
	struct build_change *c = xcalloc(1, sizeof(*c));
	char begun[CLOCK_TEXT];
	clock_write(a->begun, begun);
	const char *const value[][2] = {{"CHANGE", change == RESULTS_NOW_FAILS ? "failed" : "good"},
		{"PLATFORM", a->platform}, {"PYTHON", a->python}, {"PROJECT", a->project}, {"VERSION", a->version},
		{"RESULT", results_result_name[a->result]}, {"STEP", a->step}, {"WHY", a->why}, {"ID", a->id},
		{"BUILDER", a->builder}, {"BEGUN", begun}};
	size_t used = 0;
	for (; used < ARRAY_SIZE(value); used++)
		c->variable[used] = xasprintf("WHEELCACHE_%s=%s", value[used][0], value[used][1] ? value[used][1] : "");
	c->variable[used] = xasprintf("WHEELCACHE_SECONDS=%.0f", a->seconds);
	c->command = xstrdup(command);
	c->platform = xstrdup(a->platform);
	c->python = xstrdup(a->python);
	c->project = xstrdup(a->project);
	c->version = xstrdup(a->version);
	return c;
}

static void run_change(struct change_hook *h, const struct build_change *c)
{
	struct err e = ERR_INIT;
	const struct hook_value values[] = {{'p', c->platform}, {'v', c->python}, {'n', c->project}, {'r', c->version}};
	if (hook_run(c->command, values, ARRAY_SIZE(values), (const char *const *)c->variable, &h->ends_ms, &e) < 0)
		log_warn("[build] on-change for %s %s on %s: %s", c->project, c->version, c->platform, e.msg);
}

// --- the queue ---

// Waits for a change. NULL: the thread ends. Under the lock.
static struct build_change *take_change(struct change_hook *h)
{
	while (!h->count && !h->is_ending)
		pthread_cond_wait(&h->changed, &h->lock);
	if (!h->count)
		return NULL;
	struct build_change *c = h->queue[h->first];
	h->first = (h->first + 1) % CHANGE_HOOK_QUEUE;
	h->count--;
	int64_t ends = clock_ms() + CHANGE_HOOK_SECONDS * 1000LL;
	atomic_store(&h->ends_ms, h->is_ending && h->last_ms < ends ? h->last_ms : ends);
	return c;
}

static void drop_change(struct change_hook *h, struct build_change *c)
{
	if (h->dropped++ == 0)
		log_warn("[build] on-change is not run for %s %s on %s: too many changes wait", c->project, c->version,
			c->platform);
	free_change(&c);
}

static void *run_changes(void *ctx)
{
	struct change_hook *h = ctx;
	pthread_mutex_lock(&h->lock);
	for (struct build_change *c; (c = take_change(h));) {
		if (h->is_ending && clock_ms() >= h->last_ms) {
			drop_change(h, c);
			continue;
		}
		pthread_mutex_unlock(&h->lock);
		run_change(h, c);
		free_change(&c);
		pthread_mutex_lock(&h->lock);
	}
	pthread_mutex_unlock(&h->lock);
	return NULL;
}

static bool start_thread(struct change_hook *h)
{
	if (!h->has_thread)
		h->has_thread = pthread_create(&h->thread, NULL, run_changes, h) == 0;
	return h->has_thread;
}

struct change_hook *change_hook_new(void)
{
	struct change_hook *h = xcalloc(1, sizeof(*h));
	pthread_mutex_init(&h->lock, NULL);
	pthread_cond_init(&h->changed, NULL);
	return h;
}

void change_hook_free(struct change_hook *h, unsigned seconds)
{
	if (!h)
		return;
	pthread_mutex_lock(&h->lock);
	h->is_ending = true;
	h->last_ms = clock_ms() + (int64_t)seconds * 1000;
	if (atomic_load(&h->ends_ms) > h->last_ms)
		atomic_store(&h->ends_ms, h->last_ms);
	pthread_cond_signal(&h->changed);
	pthread_mutex_unlock(&h->lock);
	if (h->has_thread)
		pthread_join(h->thread, NULL);
	if (h->dropped)
		log_warn("[build] on-change was not run for %zu changes", h->dropped);
	pthread_cond_destroy(&h->changed);
	pthread_mutex_destroy(&h->lock);
	free(h);
}

void change_hook_add(struct change_hook *h, const char *command, const struct results_attempt *a,
	enum results_change change)
{
	if (!command || change == RESULTS_UNCHANGED)
		return;
	struct build_change *c = copy_change(command, a, change);
	pthread_mutex_lock(&h->lock);
	if (h->count == CHANGE_HOOK_QUEUE || !start_thread(h)) {
		drop_change(h, c);
	} else {
		h->queue[(h->first + h->count++) % CHANGE_HOOK_QUEUE] = c;
		pthread_cond_signal(&h->changed);
	}
	pthread_mutex_unlock(&h->lock);
}
