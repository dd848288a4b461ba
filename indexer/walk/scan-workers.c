// SPDX-License-Identifier: Apache-2.0
#include "indexer/walk/scan-workers.h"

#include <pthread.h>
#include <stdlib.h>

#include "lib/base/mem.h"
#include "lib/os/thread-pool.h"

enum {
	CHANNEL_ROOM = 512,
	JOBS_A_THREAD = 8, // queued, before a thread does the next file itself
};

struct crew {
	const struct crew_options *options;
	struct pool *pool;
	struct channel *channel;
	pthread_mutex_t lock; // idle
	struct worker *idle;
	_Atomic uint64_t jobs; // waiting or running
	_Atomic uint64_t count[CREW_COUNTS];
	_Atomic uint64_t *seen; // a platform
};

static void worker_free(struct worker *w)
{
	catalog_close(w->catalog);
	ingest_free(w->ingest);
	free(w);
}

static int add_worker(struct crew *crew, struct err *e)
{
	struct worker *w = xcalloc(1, sizeof(*w));
	w->ingest = ingest_new();
	w->next = crew->idle;
	crew->idle = w;
	ingest_throttle(w->ingest, crew->options->throttle);
	return catalog_open_read(crew->options->catalog, &w->catalog, e);
}

struct crew *crew_new(const struct crew_options *options, struct err *e)
{
	CLEANUP(crew_cleanup) struct crew *crew = xcalloc(1, sizeof(*crew));
	crew->options = options;
	crew->channel = channel_new(CHANNEL_ROOM);
	crew->seen = xcalloc(options->store->platform_count, sizeof(*crew->seen));
	pthread_mutex_init(&crew->lock, NULL);
	atomic_init(&crew->jobs, 1); // crew_started ends this one
	for (unsigned i = 0; i < options->threads; i++)
		if (add_worker(crew, e) < 0)
			return NULL;
	crew->pool = pool_new(options->threads, POOL_LAST_IN_FIRST_OUT, "scan");
	return STEAL_PTR(crew);
}

void crew_free(struct crew *crew)
{
	if (!crew)
		return;
	pool_free(crew->pool);
	while (crew->idle) {
		struct worker *w = crew->idle;
		crew->idle = w->next;
		worker_free(w);
	}
	channel_free(crew->channel);
	pthread_mutex_destroy(&crew->lock);
	free(crew->seen);
	free(crew);
}

void crew_cleanup(struct crew **crew)
{
	crew_free(*crew);
	*crew = NULL;
}

const struct crew_options *crew_options(const struct crew *crew)
{
	return crew->options;
}

// There are as many workers as threads, so one is always idle.
static struct worker *borrow(struct crew *crew)
{
	pthread_mutex_lock(&crew->lock);
	struct worker *w = crew->idle;
	crew->idle = w->next;
	pthread_mutex_unlock(&crew->lock);
	return w;
}

static void give_back(struct crew *crew, struct worker *w)
{
	pthread_mutex_lock(&crew->lock);
	w->next = crew->idle;
	crew->idle = w;
	pthread_mutex_unlock(&crew->lock);
}

static void end_job(struct crew *crew)
{
	if (atomic_fetch_sub(&crew->jobs, 1) == 1)
		channel_close(crew->channel);
}

static void run(void *arg)
{
	struct job *job = arg;
	struct crew *crew = job->crew;
	struct worker *w = borrow(crew);
	if (!crew_is_cancelled(crew))
		job->run(crew, w, job);
	give_back(crew, w);
	folder_unref(job->folder);
	free(job->filename);
	free(job);
	end_job(crew);
}

void crew_submit(struct crew *crew, const struct job *job)
{
	struct job *copy = xmalloc(sizeof(*copy));
	*copy = *job;
	copy->crew = crew;
	atomic_fetch_add(&crew->jobs, 1);
	pool_submit(crew->pool, run, copy);
}

void crew_started(struct crew *crew)
{
	end_job(crew);
}

bool crew_is_busy(const struct crew *crew)
{
	return atomic_load(&crew->jobs) > JOBS_A_THREAD * crew->options->threads;
}

bool crew_is_cancelled(const struct crew *crew)
{
	return crew->options->cancel && atomic_load(crew->options->cancel);
}

void crew_count(struct crew *crew, enum crew_count what, uint64_t number)
{
	atomic_fetch_add_explicit(&crew->count[what], number, memory_order_relaxed);
}

uint64_t crew_counted(const struct crew *crew, enum crew_count what)
{
	return atomic_load(&crew->count[what]);
}

void crew_saw(struct crew *crew, const struct folder *in)
{
	crew_count(crew, COUNT_FILES, 1);
	atomic_fetch_add_explicit(&crew->seen[in->platform_index], 1, memory_order_relaxed);
}

uint64_t crew_seen(const struct crew *crew, size_t platform_index)
{
	return atomic_load(&crew->seen[platform_index]);
}

void crew_tell(struct crew *crew, struct outcome *outcome)
{
	channel_put(crew->channel, outcome);
}

void crew_gone(struct crew *crew, struct folder *folder, int64_t id, int64_t written)
{
	struct outcome *o = outcome_new(OUTCOME_FILE_GONE, folder);
	o->id = id;
	o->written = written;
	crew_tell(crew, o);
}

void crew_problem(
	struct crew *crew, struct folder *folder, const char *filename, const struct err *why)
{
	struct outcome *o = outcome_new(OUTCOME_PROBLEM, folder);
	CLEANUP(mem_free)
	char *path = filename ? folder_file(folder, filename) : xstrdup(folder->path);
	o->is_blind = !filename;
	o->text = xasprintf("%s/%s: %s", folder->platform->path, path, why->msg);
	crew_tell(crew, o);
}

void crew_waits(struct crew *crew, struct folder *folder, const char *filename, const char *why)
{
	struct outcome *o = outcome_new(OUTCOME_WAITING, folder);
	CLEANUP(mem_free) char *path = folder_file(folder, filename);
	o->text = xasprintf("%s/%s: %s", folder->platform->name, path, why);
	crew_count(crew, COUNT_WAITING, 1);
	crew_tell(crew, o);
}

void crew_folder_end(struct crew *crew, struct folder *folder)
{
	if (atomic_fetch_sub(&folder->pending, 1) == 1 && folder->is_listed)
		crew_tell(crew, outcome_new(OUTCOME_FOLDER, folder));
}

struct outcome *crew_take(struct crew *crew, unsigned timeout_ms, bool *ended)
{
	return channel_take(crew->channel, timeout_ms, ended);
}
