// SPDX-License-Identifier: Apache-2.0
#include "lib/os/hook-queue.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/arena.h"
#include "lib/base/buf.h"
#include "lib/base/log.h"
#include "lib/os/clock.h"

struct queued_hook {
	const char *command, *about, *project;
	struct hook_value *value;
	size_t values;
	const char **variable; // NULL at the end, after a place for WHEELCACHE_CHANGES
	size_t variables;
	struct buf changes; // a line each
	size_t joined;      // number of changes
	struct arena text;  // of all else
};

struct hook_queue {
	const char *section;
	pthread_mutex_t lock; // of all that follows
	pthread_cond_t changed;
	struct queued_hook *queue[HOOK_QUEUE_MOST]; // a ring
	size_t first, count;
	size_t dropped; // commands, in all
	bool has_thread, is_ending;
	pthread_t thread;
	int64_t last_ms;         // while it ends: when the last command is ended
	_Atomic int64_t ends_ms; // of the running command
};

// --- one command ---

static void free_hook(struct queued_hook *q)
{
	buf_release(&q->changes);
	arena_release(&q->text);
	free(q);
}

static struct queued_hook *copy_job(const struct hook_job *job)
{
	struct queued_hook *q = xcalloc(1, sizeof(*q));
	q->command = arena_strdup(&q->text, job->command);
	q->about = arena_strdup(&q->text, job->about);
	q->project = arena_strdup(&q->text, job->project);
	q->value = ARENA_NEW(&q->text, struct hook_value, job->values);
	for (; q->values < job->values; q->values++)
		q->value[q->values] = (struct hook_value){
			job->value[q->values].letter, arena_strdup(&q->text, job->value[q->values].text)};
	q->joined = 1;
	buf_init(&q->changes, SIZE_MAX / 2);
	buf_printf(&q->changes, "%s\n", job->change);
	q->variable = ARENA_NEW(&q->text, const char *, job->variables + 2);
	for (size_t i = 0; i < job->variables; i++)
		q->variable[q->variables++] = arena_printf(&q->text, "WHEELCACHE_%s=%s", job->variable[i][0],
			job->variable[i][1] ? job->variable[i][1] : "");
	return q;
}

// The newer one takes the lines of the older one, which it replaces.
static void join_hooks(struct queued_hook *newer, struct queued_hook *older)
{
	if (older->joined < HOOK_QUEUE_JOINED)
		buf_str(&older->changes, buf_view(&newer->changes));
	newer->joined += older->joined;
	struct buf lines = older->changes;
	older->changes = newer->changes;
	newer->changes = lines;
}

static void add_changes(struct queued_hook *q)
{
	if (q->joined > HOOK_QUEUE_JOINED)
		buf_printf(&q->changes, "and %zu more\n", q->joined - HOOK_QUEUE_JOINED);
	q->variable[q->variables] = arena_printf(&q->text, "WHEELCACHE_CHANGES=%.*s", (int)q->changes.len - 1,
		q->changes.data); // without the last line end
}

static void run_hook(struct hook_queue *h, struct queued_hook *q)
{
	struct err e = ERR_INIT;
	add_changes(q);
	if (hook_run(q->command, q->value, q->values, q->variable, &h->ends_ms, &e) < 0)
		log_warn("%s on-change for %s: %s", h->section, q->about, e.msg);
}

// --- the queue ---

// Waits for a command. NULL: the thread ends. Under the lock.
static struct queued_hook *take_hook(struct hook_queue *h)
{
	while (!h->count && !h->is_ending)
		pthread_cond_wait(&h->changed, &h->lock);
	if (!h->count)
		return NULL;
	struct queued_hook *c = h->queue[h->first];
	h->first = (h->first + 1) % HOOK_QUEUE_MOST;
	h->count--;
	int64_t ends = clock_ms() + HOOK_QUEUE_SECONDS * 1000LL;
	atomic_store(&h->ends_ms, h->is_ending && h->last_ms < ends ? h->last_ms : ends);
	return c;
}

static void drop_hook(struct hook_queue *h, struct queued_hook *c)
{
	if (h->dropped++ == 0)
		log_warn("%s on-change is not run for %s: too many changes wait", h->section, c->about);
	free_hook(c);
}

static void *run_hooks(void *ctx)
{
	struct hook_queue *h = ctx;
	pthread_mutex_lock(&h->lock);
	for (struct queued_hook *c; (c = take_hook(h));) {
		if (h->is_ending && clock_ms() >= h->last_ms) {
			drop_hook(h, c);
			continue;
		}
		pthread_mutex_unlock(&h->lock);
		run_hook(h, c);
		free_hook(c);
		pthread_mutex_lock(&h->lock);
	}
	pthread_mutex_unlock(&h->lock);
	return NULL;
}

static bool start_thread(struct hook_queue *h)
{
	if (!h->has_thread)
		h->has_thread = pthread_create(&h->thread, NULL, run_hooks, h) == 0;
	return h->has_thread;
}

struct hook_queue *hook_queue_new(const char *section)
{
	struct hook_queue *h = xcalloc(1, sizeof(*h));
	h->section = section;
	pthread_mutex_init(&h->lock, NULL);
	pthread_cond_init(&h->changed, NULL);
	return h;
}

void hook_queue_free(struct hook_queue *h, unsigned seconds)
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
		log_warn("%s on-change was not run for %zu changes", h->section, h->dropped);
	pthread_cond_destroy(&h->changed);
	pthread_mutex_destroy(&h->lock);
	free(h);
}

// The place of one that waits for the same command and project. NULL: there is none. Under the lock.
static struct queued_hook **find_hook(struct hook_queue *h, const struct queued_hook *q)
{
	for (size_t i = 0; i < h->count; i++) {
		struct queued_hook **at = &h->queue[(h->first + i) % HOOK_QUEUE_MOST];
		if (strcmp((*at)->project, q->project) == 0 && strcmp((*at)->command, q->command) == 0)
			return at;
	}
	return NULL;
}

void hook_queue_add(struct hook_queue *h, const struct hook_job *job)
{
	if (!job->command)
		return;
	struct queued_hook *q = copy_job(job);
	pthread_mutex_lock(&h->lock);
	struct queued_hook **same = find_hook(h, q);
	if (same) {
		join_hooks(q, *same);
		free_hook(*same);
		*same = q;
	} else if (h->count == HOOK_QUEUE_MOST || !start_thread(h)) {
		drop_hook(h, q);
	} else {
		h->queue[(h->first + h->count++) % HOOK_QUEUE_MOST] = q;
		pthread_cond_signal(&h->changed);
	}
	pthread_mutex_unlock(&h->lock);
}
