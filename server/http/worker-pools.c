// SPDX-License-Identifier: Apache-2.0
#include "server/http/worker-pools.h"

#include <stdlib.h>

#include "lib/base/limits.h"
#include "lib/base/mem.h"
#include "server/http/fair-queue.h"

enum {
	POOL_THREADS = 4,
	BODY_THREADS = 8, // of those with places, which wait for the disk: an upload of a new project syncs five times
};

struct worker_pool {
	struct thread_pool *threads;
	struct fair_queue *queue; // NULL: jobs go to the threads at once
	struct share_pool *places; // NULL: none
};

struct worker_pools {
	struct worker_pool pool[WORKER_POOL_COUNT];
};

// A job that waits in the fair queue.
struct queued_job {
	struct fair_queue_entry entry;
	struct worker_pool *pool;
	thread_pool_fn *run, *refuse;
	void *ctx;
};

static void run_queued_job(void *job)
{
	struct queued_job *t = job;
	struct worker_pool *pool = t->pool;
	t->run(t->ctx);
	fair_queue_end(pool->queue, &t->entry);
	free(t);
	fair_queue_run(pool->queue);
}

static void begin_queued_job(void *ctx, struct fair_queue_entry *entry)
{
	struct worker_pool *pool = ctx;
	thread_pool_submit(pool->threads, run_queued_job, (char *)entry - offsetof(struct queued_job, entry));
}

static void refuse_queued_job(void *ctx UNUSED, struct fair_queue_entry *entry)
{
	struct queued_job *t = (struct queued_job *)(void *)((char *)entry - offsetof(struct queued_job, entry));
	t->refuse(t->ctx);
	free(t);
}

struct worker_pools *worker_pools_new(const char *name, unsigned searches, const struct share_options *places)
{
	struct worker_pools *l = xcalloc(1, sizeof(*l));
	for (size_t i = 0; i < WORKER_POOL_COUNT; i++) {
		struct worker_pool *pool = &l->pool[i];
		bool has_queue = i >= WORKER_POOLS;
		unsigned plain = places ? BODY_THREADS : POOL_THREADS;
		pool->threads =
			thread_pool_new(has_queue ? searches + FAIR_QUEUE_SPARE : plain, THREAD_POOL_FIRST_IN_FIRST_OUT, name);
		const struct fair_queue_options options = {
			.under_way = searches,
			.waiting = LIMIT_SEARCHES_WAITING,
			.begin = begin_queued_job,
			.refuse = refuse_queued_job,
			.ctx = pool};
		pool->queue = has_queue ? fair_queue_new(&options) : NULL;
		pool->places = places ? share_pool_new(places) : NULL;
	}
	return l;
}

void worker_pools_free(struct worker_pools *l)
{
	for (size_t i = 0; l && i < WORKER_POOL_COUNT; i++) {
		thread_pool_free(l->pool[i].threads);
		fair_queue_free(l->pool[i].queue);
		share_pool_free(l->pool[i].places);
	}
	free(l);
}

struct worker_pool *worker_pools_pick(struct worker_pools *l, unsigned number)
{
	return &l->pool[number < WORKER_POOL_COUNT ? number : number % WORKER_POOLS];
}

bool worker_pool_is_costly(const struct worker_pool *pool)
{
	return pool->queue != NULL;
}

bool worker_pool_submit(struct worker_pool *pool, const struct worker_job *job)
{
	if (!pool->queue) {
		thread_pool_submit(pool->threads, job->run, job->ctx);
		return true;
	}
	struct queued_job *t = xcalloc(1, sizeof(*t));
	*t = (struct queued_job){.pool = pool, .run = job->run, .refuse = job->refuse, .ctx = job->ctx};
	if (!fair_queue_enter(pool->queue, &t->entry, job->peer, job->token, 1)) {
		free(t);
		return false;
	}
	fair_queue_run(pool->queue);
	return true;
}

void worker_pool_submit_always(struct worker_pool *pool, thread_pool_fn *fn, void *job)
{
	thread_pool_submit(pool->threads, fn, job);
}

struct share_pool *worker_pool_places(const struct worker_pool *pool)
{
	return pool->places;
}
