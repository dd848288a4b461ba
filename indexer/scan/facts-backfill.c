// SPDX-License-Identifier: Apache-2.0
#include "indexer/scan/facts-backfill.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "indexer/walk/event-queue.h"
#include "lib/base/log.h"
#include "lib/base/mem.h"
#include "lib/os/clock.h"
#include "lib/os/thread-pool.h"
#include "lib/state/catalog/catalog-facts.h"
#include "lib/state/store/packed-facts.h"

enum {
	JOBS_A_THREAD = 2, // read, or waiting to be written: their facts are in memory
	WAIT_MS = 100,
	COMMIT_MS = 1000,
};

// A file with the bytes.
struct inside_place {
	const struct platform *platform;
	char *path, *filename;
	struct place_version known;
};

// What the threads read with, and do not use just now.
struct reader_shelf {
	pthread_mutex_t lock;
	struct wheel_reader **reader;
	size_t count;
};

struct inside_job {
	const struct store *store;
	struct reader_shelf *readers;
	struct event_queue *done;
	uint8_t sha256[SHA256_SIZE];
	struct inside_place *place;
	size_t places, room;
	struct packed_facts facts;
	struct err why; // of the last place, where nothing was taken
};

struct facts_backfill {
	struct catalog *catalog;
	const struct facts_backfill_options *options;
	struct facts_backfill_counts *counts;
	struct thread_pool *pool;
	struct reader_shelf readers;
	struct event_queue *done; // inside_job
	int64_t *id;          // the rows that lack facts
	size_t count, next;
	size_t running;
	struct catalog_transaction open;
	int64_t begun_ms, written_ms; // the run; the open transaction
};

static void inside_job_free(struct inside_job *job)
{
	for (size_t i = 0; i < job->places; i++) {
		free(job->place[i].path);
		free(job->place[i].filename);
	}
	free(job->place);
	packed_facts_release(&job->facts);
	free(job);
}

static void inside_job_cleanup(struct inside_job **job)
{
	if (*job)
		inside_job_free(*job);
}

// Waits for the jobs that run; the queue has room for all of them.
static void facts_backfill_release(struct facts_backfill *s)
{
	bool ended;
	thread_pool_free(s->pool);
	for (; s->running; s->running--) {
		struct inside_job *job = event_queue_take(s->done, WAIT_MS, &ended);
		inside_job_cleanup(&job);
	}
	event_queue_free(s->done);
	while (s->readers.count)
		wheel_reader_free(s->readers.reader[--s->readers.count]);
	free(s->readers.reader);
	pthread_mutex_destroy(&s->readers.lock);
	catalog_rollback(&s->open);
	free(s->id);
}

// --- reading, in the threads ---

static struct wheel_reader *borrow_reader(struct reader_shelf *shelf)
{
	pthread_mutex_lock(&shelf->lock);
	struct wheel_reader *r = shelf->count ? shelf->reader[--shelf->count] : NULL;
	pthread_mutex_unlock(&shelf->lock);
	return r ? r : wheel_reader_new();
}

static int take_at(struct wheel_reader *r, const struct inside_place *p, struct packed_facts *out, struct err *e)
{
	CLEANUP(filename_release) struct filename name = {0};
	CLEANUP(place_file_close) struct place_file *file = store_open_known(p->platform, p->path, &p->known, e);
	if (!file || filename_parse(str_from(p->filename), &name, e) < 0)
		return -1;
	const struct byte_source bytes = place_file_source(file, p->known.size);
	return packed_facts_read_file(r, &bytes, file, &p->known, &name, out, e);
}

static void run_inside_job(void *arg)
{
	struct inside_job *job = arg;
	struct wheel_reader *r = borrow_reader(job->readers);
	for (size_t i = 0; i < job->places && !job->facts.is_taken; i++)
		if (take_at(r, &job->place[i], &job->facts, &job->why) == 0)
			break;
	// There are no more readers than threads.
	struct reader_shelf *shelf = job->readers;
	pthread_mutex_lock(&shelf->lock);
	shelf->reader[shelf->count++] = r;
	pthread_mutex_unlock(&shelf->lock);
	event_queue_put(job->done, job);
}

// --- in the calling thread ---

// A platform that the store no longer has is left out.
static int add_inside_place(void *ctx, const struct catalog_facts_place *place, struct err *e UNUSED)
{
	struct inside_job *job = ctx;
	const struct platform *p = store_platform(job->store, place->platform);
	memcpy(job->sha256, place->sha256, SHA256_SIZE);
	if (!p)
		return 0;
	GROW(job->place, job->places, job->room);
	job->place[job->places++] = (struct inside_place){
		.platform = p,
		.path = xstrdup(place->path),
		.filename = xstrdup(place->filename),
		.known = {place->size, place->mtime_ns, place->inode},
	};
	return 0;
}

static int submit_row(struct facts_backfill *s, int64_t id, struct err *e)
{
	CLEANUP(inside_job_cleanup) struct inside_job *job = xcalloc(1, sizeof(*job));
	job->store = s->options->store;
	job->readers = &s->readers;
	job->done = s->done;
	if (catalog_facts_places(s->catalog, id, add_inside_place, job, e) < 0)
		return -1;
	if (!job->places)
		return 0;
	s->running++;
	thread_pool_submit(s->pool, run_inside_job, STEAL_PTR(job));
	return 0;
}

static bool may_begin(const struct facts_backfill *s)
{
	if (s->options->cancel && atomic_load(s->options->cancel))
		return false;
	return !s->options->most_ms || clock_ms() - s->begun_ms < s->options->most_ms;
}

static int submit_rows(struct facts_backfill *s, struct err *e)
{
	while (s->next < s->count && s->running < (size_t)JOBS_A_THREAD * s->options->threads && may_begin(s))
		if (submit_row(s, s->id[s->next++], e) < 0)
			return -1;
	return 0;
}

static void log_inside(const struct inside_job *job, const char *what, const char *why)
{
	const struct inside_place *p = &job->place[0];
	(p->platform->is_private ? log_debug : log_warn)("%s/%s: %s: %s", p->platform->name, p->path, what, why);
}

static int write_inside(struct facts_backfill *s, const struct inside_job *job, struct err *e)
{
	if (!job->facts.is_taken) {
		log_inside(job, "cannot look inside", job->why.msg);
		return 0;
	}
	if (job->facts.why)
		log_inside(job, "what is inside is unknown", job->facts.why);
	if (!s->open.catalog) {
		if (catalog_begin(s->catalog, &s->open, e) < 0)
			return -1;
		s->written_ms = clock_ms();
	}
	s->counts->taken++;
	return packed_facts_put(&job->facts, s->catalog, job->sha256, e);
}

static int commit_inside(struct facts_backfill *s, struct err *e)
{
	return s->open.catalog ? catalog_commit(&s->open, e) : 0;
}

static int take_result(struct facts_backfill *s, struct err *e)
{
	bool ended;
	CLEANUP(inside_job_cleanup) struct inside_job *job = event_queue_take(s->done, WAIT_MS, &ended);
	if (job) {
		s->running--;
		if (write_inside(s, job, e) < 0)
			return -1;
	}
	if (s->options->progress)
		s->options->progress(s->options->ctx, s->next - s->running, s->count);
	return s->open.catalog && clock_ms() - s->written_ms >= COMMIT_MS ? commit_inside(s, e) : 0;
}

int facts_backfill_run(struct catalog *c, const struct facts_backfill_options *options,
	struct facts_backfill_counts *out, struct err *e)
{
	CLEANUP(facts_backfill_release)
	struct facts_backfill s = {.catalog = c, .options = options, .counts = out, .begun_ms = clock_ms()};
	struct catalog_facts_counts counts;
	pthread_mutex_init(&s.readers.lock, NULL);
	if (catalog_facts_lacking(c, WHEEL_FACTS_VERSION, &s.id, &s.count, e) < 0)
		return -1;
	if (s.count) {
		s.done = event_queue_new((size_t)JOBS_A_THREAD * options->threads);
		s.readers.reader = xcalloc(options->threads, sizeof(struct wheel_reader *));
		s.pool = thread_pool_new(options->threads, THREAD_POOL_FIRST_IN_FIRST_OUT, "inside");
		if (submit_rows(&s, e) < 0)
			return -1;
		while (s.running)
			if (take_result(&s, e) < 0 || submit_rows(&s, e) < 0)
				return -1;
		if (commit_inside(&s, e) < 0)
			return -1;
	}
	if (catalog_facts_count(c, WHEEL_FACTS_VERSION, &counts, e) < 0)
		return -1;
	out->unreadable = counts.unreadable;
	out->lacking = counts.lacking;
	return 0;
}
