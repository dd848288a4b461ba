// SPDX-License-Identifier: Apache-2.0
#include "server/upstream/upstream-writer.h"

#include <pthread.h>
#include <stdlib.h>

#include "lib/base/log.h"
#include "lib/base/mem.h"
#include "lib/os/thread-pool.h"
#include "server/upstream/debounce.h"

enum {
	SWEEP_EVERY = 1000, // weight of answers between two removals of old rows
	SAVER_NICE = 5,     // a higher value starves other writers of the catalog
	MOST_UNSAVED = 64,  // with so many unsaved answers parsing waits, which bounds the memory
};

struct project_queue {
	struct upstream_project **project;
	size_t count, room;
	size_t weight; // by debounce_weight()
};

struct upstream_writer {
	struct upstream *upstream;
	struct catalog_pool *catalog_pool;
	upstream_writer_parsed_fn *parsed;
	upstream_writer_saved_fn *saved;
	void *ctx;
	pthread_mutex_t lock;
	pthread_cond_t changed; // one of the following four
	struct project_queue received, unsaved;
	unsigned requested;   // and not answered yet
	bool stop, is_parsed; // is_parsed: the parsing thread has ended, and adds nothing to unsaved
	pthread_t parser, saver;
	struct debounce debounce;
	size_t saved_weight; // since the last removal of old rows; for the saving thread
};

static void push_project(struct project_queue *q, struct upstream_project *p)
{
	GROW(q->project, q->count, q->room);
	q->project[q->count++] = p;
}

// --- requests ---

// On the fetch pool's thread, which must not parse.
static void on_answer(void *ctx, struct upstream_project *p)
{
	struct upstream_writer *w = ctx;
	pthread_mutex_lock(&w->lock);
	push_project(&w->received, p);
	w->requested--;
	pthread_cond_broadcast(&w->changed);
	pthread_mutex_unlock(&w->lock);
}

void upstream_writer_request(struct upstream_writer *w, struct upstream_project *p)
{
	pthread_mutex_lock(&w->lock);
	w->requested++;
	pthread_mutex_unlock(&w->lock);
	upstream_request(w->upstream, p, on_answer, w);
}

// --- parsing ---

static void parse_project(struct upstream_writer *w, struct upstream_project *p)
{
	upstream_parse(w->upstream, p);
	w->parsed(w->ctx, p);
	size_t weight = debounce_weight(upstream_project_bytes(p));
	pthread_mutex_lock(&w->lock);
	while (w->unsaved.count >= MOST_UNSAVED && !w->stop)
		pthread_cond_wait(&w->changed, &w->lock);
	push_project(&w->unsaved, p);
	w->unsaved.weight += weight;
	debounce_add(&w->debounce, weight);
	pthread_cond_broadcast(&w->changed);
	pthread_mutex_unlock(&w->lock);
}

static int compare_lengths(const void *a, const void *b)
{
	const struct upstream_project *const *x = a, *const *y = b;
	size_t one = upstream_project_unread(*x), other = upstream_project_unread(*y);
	return (one > other) - (one < other);
}

// Parses what has arrived, the shortest first, so that most clients wait less. What arrives meanwhile comes after.
static void *parse_all(void *ctx)
{
	struct upstream_writer *w = ctx;
	pthread_mutex_lock(&w->lock);
	while (!w->stop || w->requested || w->received.count) {
		struct project_queue q = w->received;
		w->received = (struct project_queue){0};
		if (!q.count)
			pthread_cond_wait(&w->changed, &w->lock);
		pthread_mutex_unlock(&w->lock);
		if (q.count)
			qsort(q.project, q.count, sizeof(*q.project), compare_lengths);
		for (size_t k = 0; k < q.count; k++)
			parse_project(w, q.project[k]);
		free(q.project);
		pthread_mutex_lock(&w->lock);
	}
	w->is_parsed = true;
	pthread_cond_broadcast(&w->changed);
	pthread_mutex_unlock(&w->lock);
	return NULL;
}

// --- saving ---

// Saves the whole queue in one transaction.
static void save_queue(struct upstream_writer *w, const struct project_queue *q)
{
	struct err e = ERR_INIT;
	struct catalog_lease lease;
	int result = catalog_pool_take(w->catalog_pool, &lease, &e);
	if (result == 0)
		result = upstream_save(w->upstream, lease.catalog, q->project, q->count, &e);
	bool is_kept = result == 0;
	w->saved_weight += q->weight;
	if (result == 0 && w->saved_weight >= SWEEP_EVERY) {
		w->saved_weight = 0;
		result = upstream_forget(lease.catalog, &e);
	}
	catalog_pool_give(w->catalog_pool, &lease);
	if (result < 0)
		log_error("upstream's answers are not saved: %s", e.msg);
	for (size_t k = 0; k < q->count; k++) {
		w->saved(w->ctx, q->project[k], is_kept);
		upstream_project_unref(q->project[k]);
	}
	free(q->project);
}

// After each burst, saves all that has arrived.
static void *save_all(void *ctx)
{
	struct upstream_writer *w = ctx;
	thread_pool_set_nice(SAVER_NICE);
	pthread_mutex_lock(&w->lock);
	while (!w->is_parsed || w->unsaved.count) {
		if (!w->unsaved.count) {
			pthread_cond_wait(&w->changed, &w->lock);
			continue;
		}
		pthread_mutex_unlock(&w->lock);
		debounce_wait(&w->debounce);
		pthread_mutex_lock(&w->lock);
		struct project_queue q = w->unsaved;
		w->unsaved = (struct project_queue){0};
		debounce_remove(&w->debounce, q.weight);
		pthread_cond_broadcast(&w->changed);
		pthread_mutex_unlock(&w->lock);
		save_queue(w, &q);
		pthread_mutex_lock(&w->lock);
	}
	pthread_mutex_unlock(&w->lock);
	return NULL;
}

// --- start and stop ---

struct upstream_writer *upstream_writer_new(struct upstream *u, struct catalog_pool *catalog_pool,
	upstream_writer_parsed_fn *parsed, upstream_writer_saved_fn *saved, void *ctx)
{
	struct upstream_writer *w = xcalloc(1, sizeof(*w));
	w->upstream = u;
	w->catalog_pool = catalog_pool;
	w->parsed = parsed;
	w->saved = saved;
	w->ctx = ctx;
	pthread_mutex_init(&w->lock, NULL);
	pthread_cond_init(&w->changed, NULL);
	debounce_init(&w->debounce, DEBOUNCE_PAUSE_MS, DEBOUNCE_MOST);
	if (pthread_create(&w->parser, NULL, parse_all, w) != 0 || pthread_create(&w->saver, NULL, save_all, w) != 0)
		abort();
	pthread_setname_np(w->parser, "parse");
	pthread_setname_np(w->saver, "save");
	return w;
}

void upstream_writer_free(struct upstream_writer *w)
{
	if (!w)
		return;
	pthread_mutex_lock(&w->lock);
	w->stop = true;
	pthread_cond_broadcast(&w->changed);
	pthread_mutex_unlock(&w->lock);
	pthread_join(w->parser, NULL);
	debounce_close(&w->debounce);
	pthread_join(w->saver, NULL);
	debounce_destroy(&w->debounce);
	pthread_cond_destroy(&w->changed);
	pthread_mutex_destroy(&w->lock);
	free(w);
}
