// SPDX-License-Identifier: Apache-2.0
#include "indexer/walk/scan-workers.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "lib/base/limits.h"
#include "lib/base/mem.h"
#include "lib/format/digest-set.h"
#include "lib/os/thread-pool.h"

enum {
	QUEUE_ROOM = 512,
	JOBS_A_THREAD = 8, // with more queued, a thread reads the next file itself
};

struct scan_workers {
	const struct scan_workers_options *options;
	struct thread_pool *pool;
	struct event_queue *queue;
	pthread_mutex_t lock; // of idle and inside
	struct scan_worker *idle;
	_Atomic uint64_t jobs; // queued or running
	_Atomic uint64_t count[SCAN_WORKERS_COUNTS];
	_Atomic uint64_t *files;      // per platform
	struct digest_set *inside;    // of the wheels whose facts were taken
	_Atomic int64_t inside_waits; // bytes
};

struct scan_workers *scan_workers_new(const struct scan_workers_options *options, struct err *e)
{
	CLEANUP(scan_workers_cleanup) struct scan_workers *workers = xcalloc(1, sizeof(*workers));
	workers->options = options;
	workers->queue = event_queue_new(QUEUE_ROOM);
	workers->files = xcalloc(options->store->platform_count, sizeof(*workers->files));
	workers->inside = digest_set_new();
	pthread_mutex_init(&workers->lock, NULL);
	atomic_init(&workers->jobs, 1); // ended by scan_workers_start_done
	for (unsigned i = 0; i < options->threads; i++) {
		struct scan_worker *w = xcalloc(1, sizeof(*w));
		w->ingest = ingest_new();
		w->next = workers->idle;
		workers->idle = w;
		ingest_throttle(w->ingest, workers->options->throttle);
		if (catalog_open_read(workers->options->catalog, &w->catalog, e) < 0)
			return NULL;
	}
	workers->pool = thread_pool_new(options->threads, THREAD_POOL_LAST_IN_FIRST_OUT, "scan");
	return STEAL_PTR(workers);
}

void scan_workers_free(struct scan_workers *workers)
{
	if (!workers)
		return;
	thread_pool_free(workers->pool);
	while (workers->idle) {
		struct scan_worker *w = workers->idle;
		workers->idle = w->next;
		catalog_close(w->catalog);
		ingest_free(w->ingest);
		free(w);
	}
	event_queue_free(workers->queue);
	digest_set_free(workers->inside);
	pthread_mutex_destroy(&workers->lock);
	free(workers->files);
	free(workers);
}

void scan_workers_cleanup(struct scan_workers **workers)
{
	scan_workers_free(*workers);
	*workers = NULL;
}

const struct scan_workers_options *scan_workers_options(const struct scan_workers *workers)
{
	return workers->options;
}

static void finish_job(struct scan_workers *workers)
{
	if (atomic_fetch_sub(&workers->jobs, 1) == 1)
		event_queue_close(workers->queue);
}

static void run_scan_job(void *arg)
{
	struct scan_job *job = arg;
	struct scan_workers *workers = job->workers;
	// There are as many workers as threads, so the calling thread always finds an idle one.
	pthread_mutex_lock(&workers->lock);
	struct scan_worker *w = workers->idle;
	workers->idle = w->next;
	pthread_mutex_unlock(&workers->lock);
	if (!scan_workers_is_cancelled(workers))
		job->run(workers, w, job);
	pthread_mutex_lock(&workers->lock);
	w->next = workers->idle;
	workers->idle = w;
	pthread_mutex_unlock(&workers->lock);
	folder_unref(job->folder);
	free(job->filename);
	free(job);
	finish_job(workers);
}

void scan_workers_submit(struct scan_workers *workers, const struct scan_job *job)
{
	struct scan_job *copy = xmalloc(sizeof(*copy));
	*copy = *job;
	copy->workers = workers;
	atomic_fetch_add(&workers->jobs, 1);
	thread_pool_submit(workers->pool, run_scan_job, copy);
}

void scan_workers_start_done(struct scan_workers *workers)
{
	finish_job(workers);
}

bool scan_workers_is_busy(const struct scan_workers *workers)
{
	return atomic_load(&workers->jobs) > JOBS_A_THREAD * workers->options->threads;
}

bool scan_workers_is_cancelled(const struct scan_workers *workers)
{
	return workers->options->cancel && atomic_load(workers->options->cancel);
}

void scan_workers_count(struct scan_workers *workers, enum scan_workers_count what, uint64_t number)
{
	atomic_fetch_add_explicit(&workers->count[what], number, memory_order_relaxed);
}

uint64_t scan_workers_total(const struct scan_workers *workers, enum scan_workers_count what)
{
	return atomic_load(&workers->count[what]);
}

bool scan_workers_begin_inside(struct scan_workers *workers, const uint8_t sha256[SHA256_SIZE])
{
	if (atomic_load(&workers->inside_waits) > LIMIT_INSIDE_WAITING)
		return false;
	pthread_mutex_lock(&workers->lock);
	bool is_new = digest_set_add(workers->inside, sha256);
	pthread_mutex_unlock(&workers->lock);
	return is_new;
}

void scan_workers_inside_waits(struct scan_workers *workers, int64_t bytes)
{
	atomic_fetch_add(&workers->inside_waits, bytes);
}

void scan_workers_count_file(struct scan_workers *workers, const struct folder *in)
{
	scan_workers_count(workers, COUNT_FILES, 1);
	atomic_fetch_add_explicit(&workers->files[in->platform_index], 1, memory_order_relaxed);
}

uint64_t scan_workers_files_of(const struct scan_workers *workers, size_t platform_index)
{
	return atomic_load(&workers->files[platform_index]);
}

void scan_workers_send(struct scan_workers *workers, struct scan_event *event)
{
	event_queue_put(workers->queue, event);
}

void scan_workers_send_gone(struct scan_workers *workers, struct folder *folder, int64_t id, int64_t written)
{
	struct scan_event *ev = scan_event_new(SCAN_EVENT_FILE_GONE, folder);
	ev->id = id;
	ev->written = written;
	scan_workers_send(workers, ev);
}

void scan_workers_send_problem(struct scan_workers *workers, struct folder *folder, const char *filename,
	const struct err *why)
{
	struct scan_event *ev = scan_event_new(SCAN_EVENT_PROBLEM, folder);
	CLEANUP(mem_free)
	char *path = filename ? folder_file(folder, filename) : xstrdup(folder->path);
	ev->hides_folder = !filename;
	ev->text = xasprintf("%s/%s: %s", place_path(folder->platform->place), path, why->msg);
	scan_workers_send(workers, ev);
}

void scan_workers_send_waiting(struct scan_workers *workers, struct folder *folder, const char *filename,
	const char *why)
{
	struct scan_event *ev = scan_event_new(SCAN_EVENT_WAITING, folder);
	CLEANUP(mem_free) char *path = folder_file(folder, filename);
	ev->text = xasprintf("%s/%s: %s", folder->platform->name, path, why);
	scan_workers_count(workers, COUNT_WAITING, 1);
	scan_workers_send(workers, ev);
}

void scan_workers_send_link(struct scan_workers *workers, struct folder *folder, struct place_folder *open,
	const char *filename, const char *cause)
{
	CLEANUP(buf_release) struct buf target = buf_up_to(LIMIT_PATH);
	place_link_text(open, filename, &target);
	struct scan_event *ev = scan_event_new(SCAN_EVENT_LINK, folder);
	ev->filename = xstrdup(filename);
	ev->text = xasprintf("%s: %s", cause, target.len ? target.data : "?");
	atomic_store(&folder->needs_rescan, true);
	scan_workers_count(workers, COUNT_LINKS, 1);
	scan_workers_send(workers, ev);
}

void scan_workers_item_done(struct scan_workers *workers, struct folder *folder)
{
	if (atomic_fetch_sub(&folder->pending, 1) == 1 && folder->is_listed)
		scan_workers_send(workers, scan_event_new(SCAN_EVENT_FOLDER, folder));
}

struct scan_event *scan_workers_receive(struct scan_workers *workers, unsigned timeout_ms, bool *ended)
{
	return event_queue_take(workers->queue, timeout_ms, ended);
}
