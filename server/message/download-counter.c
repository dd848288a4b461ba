// SPDX-License-Identifier: Apache-2.0
#include "server/message/download-counter.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/hash.h"
#include "lib/base/log.h"
#include "lib/os/clock.h"
#include "lib/os/timer-thread.h"

enum {
	BUCKETS = 1 << 12,
	MANY = 1 << 14, // files: a write begins before the period is over
	MOST = 1 << 18, // further files are not counted while writing fails
};

struct download_counter {
	struct downloads_place place; // its path is owned
	unsigned period_ms;
	bool is_failing; // a warning was logged
	struct timer_thread *timer;
	pthread_mutex_t writing; // held by a write: one at a time
	pthread_mutex_t lock;    // of the fields below
	size_t count;
	struct download_count *bucket[BUCKETS];
};

struct download_count *download_counter_ref(struct download_count *count)
{
	if (count)
		atomic_fetch_add_explicit(&count->owners, 1, memory_order_relaxed);
	return count;
}

void download_counter_unref(struct download_count *count)
{
	if (count && atomic_fetch_sub_explicit(&count->owners, 1, memory_order_acq_rel) == 1)
		free(count);
}

static bool has_controls(struct str s)
{
	for (size_t i = 0; i < s.len; i++)
		if ((unsigned char)s.ptr[i] < ' ')
			return true;
	return false;
}

// Under the lock.
static struct download_count *find_or_add(struct download_counter *t, struct str key)
{
	struct download_count **at = &t->bucket[hash_of(key, 0) % BUCKETS];
	while (*at && strcmp((*at)->key, key.ptr) != 0)
		at = &(*at)->next;
	if (*at)
		return download_counter_ref(*at);
	if (t->count >= MOST)
		return NULL;
	*at = xcalloc(1, sizeof(**at) + key.len + 1);
	memcpy((*at)->key, key.ptr, key.len);
	atomic_init(&(*at)->owners, 1);
	if (++t->count == MANY)
		timer_thread_wake(t->timer);
	return download_counter_ref(*at);
}

struct download_count *download_counter_of(struct download_counter *t, const char *place, struct str filename)
{
	CLEANUP(mem_free) char *key = xasprintf("%s/" STR_FMT, place, STR_ARG(filename));
	if (!t || has_controls(str_from(key)))
		return NULL;
	pthread_mutex_lock(&t->lock);
	struct download_count *count = find_or_add(t, str_from(key));
	pthread_mutex_unlock(&t->lock);
	return count;
}

void download_counter_note(struct download_counter *t, const struct download_count *file, const char *who)
{
	if (!t || has_controls(str_from(who)))
		return;
	CLEANUP(mem_free) char *key = xasprintf("%s%c%s", file->key, DOWNLOADS_WHO, who);
	pthread_mutex_lock(&t->lock);
	struct download_count *count = find_or_add(t, str_from(key));
	pthread_mutex_unlock(&t->lock);
	download_counter_raise(count);
	download_counter_unref(count);
}

// --- writing ---

// All counts of one moment. Only a write removes counts, so they stay valid during it.
struct batch {
	struct download_count **item;
	struct downloads_news *news;
	size_t count;
};

static void batch_release(struct batch *b)
{
	free(b->item);
	free(b->news);
}

static struct batch take_batch(struct download_counter *t)
{
	pthread_mutex_lock(&t->lock);
	struct batch b = {.item = xcalloc(t->count + 1, sizeof(struct download_count *))};
	for (size_t i = 0; i < BUCKETS; i++)
		for (struct download_count *c = t->bucket[i]; c; c = c->next)
			b.item[b.count++] = c;
	pthread_mutex_unlock(&t->lock);
	return b;
}

void download_counter_write(struct download_counter *t)
{
	struct err e = ERR_INIT;
	pthread_mutex_lock(&t->writing);
	CLEANUP(batch_release) struct batch b = take_batch(t);
	b.news = xcalloc(b.count + 1, sizeof(*b.news));
	for (size_t i = 0; i < b.count; i++) {
		struct download_count *c = b.item[i];
		c->taken = atomic_load(&c->sent);
		b.news[i] = (struct downloads_news){c->key, c->taken};
	}
	int result = downloads_add(&t->place, b.news, b.count, clock_wall_seconds(), &e);
	if (result == 0) {
		// Downloads since then stay counted.
		for (size_t i = 0; i < b.count; i++)
			atomic_fetch_sub(&b.item[i]->sent, b.item[i]->taken);
		// Removes the counts that are 0 and that no reply refers to. Under the lock no thread can get a new
		// reference, and a reply drops its reference only after it has raised the count.
		pthread_mutex_lock(&t->lock);
		for (size_t k = 0; k < BUCKETS; k++) {
			struct download_count **at = &t->bucket[k];
			while (*at) {
				struct download_count *c = *at;
				bool is_alone = atomic_load_explicit(&c->owners, memory_order_acquire) == 1;
				if (!is_alone || atomic_load(&c->sent)) {
					at = &c->next;
					continue;
				}
				*at = c->next;
				t->count--;
				download_counter_unref(c);
			}
		}
		pthread_mutex_unlock(&t->lock);
	} else if (!t->is_failing) {
		log_warn("cannot write the counts of downloads: %s", e.msg);
	}
	t->is_failing = result < 0;
	pthread_mutex_unlock(&t->writing);
}

static int64_t write_periodically(void *ctx)
{
	struct download_counter *t = ctx;
	download_counter_write(t);
	return t->period_ms;
}

struct download_counter *download_counter_start(const struct downloads_place *place, unsigned period_ms)
{
	struct download_counter *t = xcalloc(1, sizeof(*t));
	t->place = *place;
	t->place.path = xstrdup(place->path);
	t->period_ms = period_ms;
	pthread_mutex_init(&t->writing, NULL);
	pthread_mutex_init(&t->lock, NULL);
	download_counter_write(t);
	t->timer = timer_thread_new(write_periodically, t);
	timer_thread_start(t->timer, period_ms);
	return t;
}

void download_counter_stop(struct download_counter *t)
{
	if (!t)
		return;
	timer_thread_stop(t->timer);
	download_counter_write(t);
	for (size_t i = 0; i < BUCKETS; i++)
		for (struct download_count *c = t->bucket[i], *next; c; c = next) {
			next = c->next;
			download_counter_unref(c);
		}
	timer_thread_free(t->timer);
	pthread_mutex_destroy(&t->lock);
	pthread_mutex_destroy(&t->writing);
	free((char *)(uintptr_t)t->place.path);
	free(t);
}
