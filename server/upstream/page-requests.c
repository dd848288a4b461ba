// SPDX-License-Identifier: Apache-2.0
#include "server/upstream/page-requests.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/limits.h"
#include "lib/base/mem.h"
#include "lib/base/str.h"
#include "lib/os/clock.h"
#include "lib/state/upstream/upstream.h"
#include "server/http/metrics.h"

enum {
	BUCKETS = 1024,
	REST_SECONDS = 5,       // so long what was asked is not asked again, whatever came of it
	LOST_BYTES = 256 << 20, // of news that the catalog does not take: told until their rest is over
};

// A project that is being asked for, or was a moment ago.
struct question {
	struct question *next; // of its bucket
	char *project;
	struct continuation *waiters;
	struct fair_queue_entry turn;
	bool is_for_waiters; // alone: it needs not be asked for where they have left
	int64_t began_ms;
	long rests_until; // seconds of the monotonic clock; 0: it is being asked for, or waits for its turn
	int64_t told;     // when it was answered, in seconds since 1970
	struct upstream_project *news; // what came, while the catalog does not have it; NULL: nothing
	size_t lost;                   // bytes of news that the catalog has not taken
};

struct page_requests {
	struct fair_queue *turns;
	struct metrics *metrics;
	void (*begin)(void *ctx, const char *project);
	void *ctx;
	pthread_mutex_t lock;
	struct question *bucket[BUCKETS];
	size_t lost; // of all
	bool has_given_up;
};

// --- the table: under its lock ---

static struct question **find(struct page_requests *a, const char *project)
{
	struct question **at = &a->bucket[str_hash(str_from(project), 0) % BUCKETS];
	while (*at && strcmp((*at)->project, project) != 0)
		at = &(*at)->next;
	return at;
}

static void forget(struct page_requests *a, struct question **at)
{
	struct question *q = *at;
	*at = q->next;
	a->lost -= q->lost;
	upstream_project_unref(q->news);
	free(q->project);
	free(q);
}

static bool has_rested(const struct question *q)
{
	return q->rests_until && q->rests_until <= clock_seconds() && (!q->news || q->lost);
}

static void forget_rested(struct page_requests *a, struct question **at, int64_t since)
{
	if (*at && (has_rested(*at) || ((*at)->rests_until && (*at)->told < since)))
		forget(a, at);
}

// NULL: too many wait.
static struct question *begin(struct page_requests *a, struct question **at, const char *project, const char *peer)
{
	struct question *q = xcalloc(1, sizeof(*q));
	if (!fair_queue_enter(a->turns, &q->turn, peer, 0)) {
		free(q);
		return NULL;
	}
	q->project = xstrdup(project);
	q->began_ms = clock_ms();
	q->is_for_waiters = true;
	return *at = q;
}

// Whether there is nothing to wait for: the waiter is to be woken.
static bool is_over(const struct page_requests *a, const struct question *q)
{
	return a->has_given_up || (q && q->rests_until);
}

static enum page_requests_joined join(struct page_requests *a, struct question **at, const char *project,
	const char *peer, struct continuation *continuation)
{
	struct question *q = *at;
	if (q)
		fair_queue_join(a->turns, &q->turn, peer);
	else if (!(q = begin(a, at, project, peer)))
		return PAGE_REQUESTS_FULL;
	if (!continuation) {
		q->is_for_waiters = false;
		return PAGE_REQUESTS_JOINED;
	}
	continuation->next = q->waiters;
	q->waiters = continuation;
	return PAGE_REQUESTS_JOINED;
}

// --- asking ---

bool page_requests_may(struct page_requests *a, const char *project, int64_t since)
{
	pthread_mutex_lock(&a->lock);
	struct question **at = find(a, project);
	forget_rested(a, at, since);
	bool may = !is_over(a, *find(a, project));
	pthread_mutex_unlock(&a->lock);
	return may;
}

enum page_requests_joined page_requests_join(struct page_requests *a, const char *project, const char *peer,
	struct continuation *continuation)
{
	pthread_mutex_lock(&a->lock);
	struct question **at = find(a, project);
	bool wakes = is_over(a, *at);
	enum page_requests_joined joined = wakes ? PAGE_REQUESTS_JOINED : join(a, at, project, peer, continuation);
	pthread_mutex_unlock(&a->lock);
	if (joined == PAGE_REQUESTS_FULL)
		metrics_add(a->metrics, METRIC_REFUSED_PAGES, 1);
	if (wakes && continuation)
		continuation->resume(continuation);
	fair_queue_run(a->turns);
	return joined;
}

// It stays in the table until its turn ends.
static void on_turn(void *ctx, struct fair_queue_entry *turn)
{
	struct page_requests *a = ctx;
	const struct question *q =
		(const struct question *)(const void *)((char *)turn - offsetof(struct question, turn));
	a->begin(a->ctx, q->project);
}

void page_requests_end(struct page_requests *a, const char *project, struct upstream_project *news)
{
	pthread_mutex_lock(&a->lock);
	struct question *q = *find(a, project);
	struct continuation *waiters = q ? STEAL_PTR(q->waiters) : NULL;
	if (q) {
		q->news = news ? upstream_project_ref(news) : NULL;
		q->told = clock_wall_seconds();
		q->rests_until = clock_seconds() + REST_SECONDS;
		fair_queue_end(a->turns, &q->turn);
	}
	pthread_mutex_unlock(&a->lock);
	continuation_resume_all(waiters);
	if (news)
		fair_queue_run(a->turns); // else whoever began with it goes on
}

// --- who has left ---

static bool is_left(struct page_requests *a, struct question *q)
{
	return !q->rests_until && q->is_for_waiters && !q->waiters && fair_queue_leave(a->turns, &q->turn);
}

// More of those to be woken.
static struct continuation *let_go(struct page_requests *a, struct question **at, struct continuation *woken)
{
	struct question *q = *at;
	for (struct continuation *w = continuation_take_left(&q->waiters), *next; w; w = next) {
		next = w->next;
		w->next = woken;
		woken = w;
	}
	bool is_dropped = is_left(a, q);
	metrics_add(a->metrics, METRIC_DROPPED_PAGES, is_dropped);
	if (is_dropped || has_rested(q))
		forget(a, at);
	return woken;
}

void page_requests_let_go(struct page_requests *a)
{
	struct continuation *woken = NULL;
	pthread_mutex_lock(&a->lock);
	for (size_t i = 0; i < BUCKETS; i++)
		for (struct question **at = &a->bucket[i], *q; (q = *at);) {
			woken = let_go(a, at, woken);
			if (*at == q)
				at = &q->next;
		}
	pthread_mutex_unlock(&a->lock);
	continuation_resume_all(woken);
}

void page_requests_count(struct page_requests *a, struct fair_queue_counts *out)
{
	fair_queue_count(a->turns, out);
}

// --- news ---

int64_t page_requests_ms(struct page_requests *a, const char *project)
{
	pthread_mutex_lock(&a->lock);
	const struct question *q = *find(a, project);
	int64_t began = q ? q->began_ms : clock_ms();
	pthread_mutex_unlock(&a->lock);
	return clock_ms() - began;
}

struct upstream_project *page_requests_news(struct page_requests *a, const char *project)
{
	pthread_mutex_lock(&a->lock);
	const struct question *q = *find(a, project);
	struct upstream_project *news = q && q->news ? upstream_project_ref(q->news) : NULL;
	pthread_mutex_unlock(&a->lock);
	return news;
}

void page_requests_written(struct page_requests *a, struct upstream_project *news, bool is_kept)
{
	struct upstream_project *old = NULL;
	size_t bytes = upstream_project_bytes(news);
	pthread_mutex_lock(&a->lock);
	struct question *q = *find(a, upstream_project_name(news));
	bool is_here = q && q->news == news;
	if (is_here && !is_kept && bytes <= LOST_BYTES - a->lost)
		a->lost += q->lost = bytes;
	else if (is_here)
		old = STEAL_PTR(q->news);
	pthread_mutex_unlock(&a->lock);
	upstream_project_unref(old);
}

void page_requests_drop_older(struct page_requests *a, const char *project, int64_t changed)
{
	struct upstream_project *old = NULL;
	pthread_mutex_lock(&a->lock);
	struct question *q = *find(a, project);
	int64_t written = q && q->news ? upstream_project_changed(q->news) : 0;
	if (written && written < changed && !q->lost)
		old = STEAL_PTR(q->news);
	pthread_mutex_unlock(&a->lock);
	upstream_project_unref(old);
}

// --- beginning, end ---

struct page_requests *page_requests_new(unsigned concurrency, struct metrics *metrics,
	void (*begin_fn)(void *ctx, const char *project), void *ctx)
{
	struct page_requests *a = xcalloc(1, sizeof(*a));
	a->metrics = metrics;
	a->begin = begin_fn;
	a->ctx = ctx;
	a->turns = fair_queue_new(&(struct fair_queue_options){
		.under_way = concurrency, .waiting = LIMIT_PAGES_WAITING, .begin = on_turn, .ctx = a});
	pthread_mutex_init(&a->lock, NULL);
	return a;
}

bool page_requests_has_given_up(struct page_requests *a)
{
	pthread_mutex_lock(&a->lock);
	bool has_given_up = a->has_given_up;
	pthread_mutex_unlock(&a->lock);
	return has_given_up;
}

void page_requests_cancel(struct page_requests *a)
{
	struct continuation *all = NULL;
	pthread_mutex_lock(&a->lock);
	a->has_given_up = true;
	for (size_t i = 0; i < BUCKETS; i++)
		for (struct question *q = a->bucket[i]; q; q = q->next)
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
			forget(a, &a->bucket[i]);
	fair_queue_free(a->turns);
	pthread_mutex_destroy(&a->lock);
	free(a);
}
