// SPDX-License-Identifier: Apache-2.0
#include "server/upstream/page-requests.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/hash.h"
#include "lib/base/limits.h"
#include "lib/base/mem.h"
#include "lib/base/str.h"
#include "lib/os/clock.h"
#include "lib/state/upstream/upstream.h"
#include "server/http/metrics.h"

enum {
	BUCKETS = 1024,
	KEEP_SECONDS = 5,          // a project is not requested again for so long, whatever the answer
	UNSAVED_BYTES = 256 << 20, // of answers that could not be saved, and are kept here for KEEP_SECONDS
};

// A project whose request is queued, in flight, or was answered some seconds ago.
struct page_request {
	struct page_request *next; // of its bucket
	char *project;
	struct continuation *waiters;
	struct fair_queue_entry queue_entry;
	bool is_for_waiters; // only: without waiters the request is dropped
	int64_t began_ms;
	struct config_order order;
	uint32_t asked;  // bits: the upstreams that were asked since it was last expired
	bool is_wanted;  // it was answered, and is to be requested from others
	long keep_until; // seconds of the monotonic clock; 0: not answered yet
	int64_t began_at;                 // seconds since 1970: what was answered is not older
	struct upstream_project *unsaved; // the answer that is not in the catalog yet; NULL: none
	size_t unsaved_bytes;             // of unsaved, if saving it failed; else 0
};

struct page_requests {
	struct fair_queue *queue;
	struct metrics *metrics;
	void (*begin)(void *ctx, const char *project, const struct config_order *order);
	void *ctx;
	pthread_mutex_t lock;
	struct page_request *bucket[BUCKETS];
	size_t unsaved_bytes; // of all
	bool is_cancelled;
};

// --- the table: with the lock held ---

static struct page_request **find_request(struct page_requests *a, const char *project)
{
	struct page_request **at = &a->bucket[hash_of(str_from(project), 0) % BUCKETS];
	while (*at && strcmp((*at)->project, project) != 0)
		at = &(*at)->next;
	return at;
}

static void remove_request(struct page_requests *a, struct page_request **at)
{
	struct page_request *q = *at;
	*at = q->next;
	a->unsaved_bytes -= q->unsaved_bytes;
	upstream_project_unref(q->unsaved);
	free(q->project);
	free(q);
}

static bool is_expired(const struct page_request *q)
{
	return q->keep_until && q->keep_until <= clock_seconds() && (!q->unsaved || q->unsaved_bytes);
}

// Queues the request, also of an entry that was answered by other upstreams. NULL: the queue is full.
static struct page_request *queue_request(struct page_requests *a, struct page_request **at, const char *project,
	const struct config_order *order, const char *peer)
{
	struct page_request *q = *at ? *at : xcalloc(1, sizeof(*q));
	if (!fair_queue_enter(a->queue, &q->queue_entry, peer, NULL, 0)) {
		if (!*at)
			free(q);
		return NULL;
	}
	q->project = *at ? q->project : xstrdup(project);
	q->order = *order;
	q->keep_until = 0;
	q->is_wanted = false;
	q->began_ms = clock_ms();
	q->is_for_waiters = true;
	return *at = q;
}

// Whether there is nothing to wait for, so that a continuation is resumed at once.
static bool is_answered(const struct page_requests *a, const struct page_request *q)
{
	return a->is_cancelled || (q && q->keep_until && !q->is_wanted);
}

static enum page_requests_joined join_request(struct page_requests *a, struct page_request **at, const char *project,
	const struct config_order *order, const char *peer, struct continuation *continuation)
{
	struct page_request *q = *at;
	if (q && !q->is_wanted)
		fair_queue_join(a->queue, &q->queue_entry, peer);
	else if (!(q = queue_request(a, at, project, order, peer)))
		return PAGE_REQUESTS_FULL;
	if (!continuation) {
		q->is_for_waiters = false;
		return PAGE_REQUESTS_JOINED;
	}
	continuation->next = q->waiters;
	q->waiters = continuation;
	return PAGE_REQUESTS_JOINED;
}

// --- requests ---

static bool is_same_order(const struct config_order *a, const struct config_order *b)
{
	return a->count == b->count && a->is_together == b->is_together && memcmp(a->item, b->item, a->count) == 0;
}

bool page_requests_may_ask(struct page_requests *a, const char *project, const struct config_order *order,
	uint32_t depends, int64_t since)
{
	pthread_mutex_lock(&a->lock);
	struct page_request **at = find_request(a, project);
	if (*at && (is_expired(*at) || ((*at)->keep_until && (*at)->began_at < since)))
		remove_request(a, at);
	else if (*at && (*at)->keep_until && depends & ~(*at)->asked && !is_same_order(order, &(*at)->order))
		(*at)->is_wanted = true;
	bool may = !is_answered(a, *find_request(a, project));
	pthread_mutex_unlock(&a->lock);
	return may;
}

enum page_requests_joined page_requests_join(struct page_requests *a, const char *project,
	const struct config_order *order, const char *peer, struct continuation *continuation)
{
	pthread_mutex_lock(&a->lock);
	struct page_request **at = find_request(a, project);
	bool is_done = is_answered(a, *at);
	enum page_requests_joined joined =
		is_done ? PAGE_REQUESTS_JOINED : join_request(a, at, project, order, peer, continuation);
	pthread_mutex_unlock(&a->lock);
	if (joined == PAGE_REQUESTS_FULL)
		metrics_add(a->metrics, METRIC_REFUSED_PAGES, 1);
	if (is_done && continuation)
		continuation->resume(continuation);
	fair_queue_run(a->queue);
	return joined;
}

// The entry stays in the table until page_requests_end().
static void begin_page_request(void *ctx, struct fair_queue_entry *entry)
{
	struct page_requests *a = ctx;
	struct page_request *q = (struct page_request *)(void *)((char *)entry - offsetof(struct page_request, queue_entry));
	pthread_mutex_lock(&a->lock);
	q->began_at = clock_wall_seconds();
	pthread_mutex_unlock(&a->lock);
	a->begin(a->ctx, q->project, &q->order);
}

void page_requests_end(struct page_requests *a, const char *project, struct upstream_project *result)
{
	pthread_mutex_lock(&a->lock);
	struct page_request *q = *find_request(a, project);
	struct continuation *waiters = q ? STEAL_PTR(q->waiters) : NULL;
	if (q) {
		upstream_project_unref(q->unsaved);
		q->unsaved = result ? upstream_project_ref(result) : NULL;
		a->unsaved_bytes -= q->unsaved_bytes;
		q->unsaved_bytes = 0;
		for (size_t i = 0; i < q->order.count; i++)
			if (!result || upstream_project_asked(result, q->order.item[i]))
				q->asked |= (uint32_t)1 << q->order.item[i];
		q->keep_until = clock_seconds() + KEEP_SECONDS;
		fair_queue_end(a->queue, &q->queue_entry);
	}
	pthread_mutex_unlock(&a->lock);
	continuation_resume_all(waiters);
	if (result) // without one, begin_page_request() called this from fair_queue_run(), which continues
		fair_queue_run(a->queue);
}

// --- clients that have left ---

// Adds the continuations to resume to the list resumed, and returns it.
static struct continuation *drop_left_waiters(struct page_requests *a, struct page_request **at,
	struct continuation *resumed)
{
	struct page_request *q = *at;
	for (struct continuation *w = continuation_take_left(&q->waiters), *next; w; w = next) {
		next = w->next;
		w->next = resumed;
		resumed = w;
	}
	bool is_dropped =
		!q->keep_until && q->is_for_waiters && !q->waiters && fair_queue_leave(a->queue, &q->queue_entry);
	metrics_add(a->metrics, METRIC_DROPPED_PAGES, is_dropped);
	if (is_dropped || is_expired(q))
		remove_request(a, at);
	return resumed;
}

void page_requests_drop_left(struct page_requests *a)
{
	struct continuation *resumed = NULL;
	pthread_mutex_lock(&a->lock);
	for (size_t i = 0; i < BUCKETS; i++)
		for (struct page_request **at = &a->bucket[i], *q; (q = *at);) {
			resumed = drop_left_waiters(a, at, resumed);
			if (*at == q)
				at = &q->next;
		}
	pthread_mutex_unlock(&a->lock);
	continuation_resume_all(resumed);
}

void page_requests_count(struct page_requests *a, struct fair_queue_counts *out)
{
	fair_queue_count(a->queue, out);
}

// --- answers ---

int64_t page_requests_elapsed_ms(struct page_requests *a, const char *project)
{
	pthread_mutex_lock(&a->lock);
	const struct page_request *q = *find_request(a, project);
	int64_t began = q ? q->began_ms : clock_ms();
	pthread_mutex_unlock(&a->lock);
	return clock_ms() - began;
}

struct upstream_project *page_requests_unsaved(struct page_requests *a, const char *project)
{
	pthread_mutex_lock(&a->lock);
	const struct page_request *q = *find_request(a, project);
	struct upstream_project *unsaved = q && q->unsaved ? upstream_project_ref(q->unsaved) : NULL;
	pthread_mutex_unlock(&a->lock);
	return unsaved;
}

void page_requests_set_saved(struct page_requests *a, struct upstream_project *result, bool is_kept)
{
	struct upstream_project *old = NULL;
	size_t bytes = upstream_project_bytes(result);
	pthread_mutex_lock(&a->lock);
	struct page_request *q = *find_request(a, upstream_project_name(result));
	bool is_current = q && q->unsaved == result;
	if (is_current && !is_kept && bytes <= UNSAVED_BYTES - a->unsaved_bytes)
		a->unsaved_bytes += q->unsaved_bytes = bytes;
	else if (is_current)
		old = STEAL_PTR(q->unsaved);
	pthread_mutex_unlock(&a->lock);
	upstream_project_unref(old);
}

void page_requests_drop_older(struct page_requests *a, const char *project, int64_t changed)
{
	struct upstream_project *old = NULL;
	pthread_mutex_lock(&a->lock);
	struct page_request *q = *find_request(a, project);
	int64_t written = q && q->unsaved ? upstream_project_changed(q->unsaved) : 0;
	if (written && written < changed && !q->unsaved_bytes)
		old = STEAL_PTR(q->unsaved);
	pthread_mutex_unlock(&a->lock);
	upstream_project_unref(old);
}

// --- start and stop ---

struct page_requests *page_requests_new(unsigned concurrency, struct metrics *metrics,
	void (*begin_fn)(void *ctx, const char *project, const struct config_order *order), void *ctx)
{
	struct page_requests *a = xcalloc(1, sizeof(*a));
	a->metrics = metrics;
	a->begin = begin_fn;
	a->ctx = ctx;
	a->queue = fair_queue_new(&(struct fair_queue_options){
		.under_way = concurrency, .waiting = LIMIT_PAGES_WAITING, .begin = begin_page_request, .ctx = a});
	pthread_mutex_init(&a->lock, NULL);
	return a;
}

bool page_requests_is_cancelled(struct page_requests *a)
{
	pthread_mutex_lock(&a->lock);
	bool is_cancelled = a->is_cancelled;
	pthread_mutex_unlock(&a->lock);
	return is_cancelled;
}

void page_requests_cancel(struct page_requests *a)
{
	struct continuation *all = NULL;
	pthread_mutex_lock(&a->lock);
	a->is_cancelled = true;
	for (size_t i = 0; i < BUCKETS; i++)
		for (struct page_request *q = a->bucket[i]; q; q = q->next)
			while (q->waiters) {
				struct continuation *w = q->waiters;
				q->waiters = w->next;
				w->next = all;
				all = w;
			}
	pthread_mutex_unlock(&a->lock);
	continuation_resume_all(all);
}

void page_requests_free(struct page_requests *a)
{
	if (!a)
		return;
	for (size_t i = 0; i < BUCKETS; i++)
		while (a->bucket[i])
			remove_request(a, &a->bucket[i]);
	fair_queue_free(a->queue);
	pthread_mutex_destroy(&a->lock);
	free(a);
}
