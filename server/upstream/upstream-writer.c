// SPDX-License-Identifier: Apache-2.0
#include "server/upstream/upstream-writer.h"

#include <pthread.h>
#include <stdlib.h>

#include "lib/base/log.h"
#include "lib/base/mem.h"
#include "lib/os/thread-pool.h"
#include "server/upstream/debounce.h"

enum {
	SWEEP_EVERY = 1000, // answers, and MiB of them
	KEEPERS_NICE = 5,   // more, and all wait for it where there is much to be written, as does who else writes
	MOST_UNKEPT = 64,   // where the catalog is slow, reading waits for it: memory is bounded
};

struct queue {
	struct upstream_project **project;
	size_t count, room;
	size_t weight; // as the lull counts
};

struct upstream_writer {
	struct upstream *upstream;
	struct catalog_pool *readers;
	upstream_writer_fn *settled;
	upstream_writer_written_fn *written;
	void *ctx;
	pthread_mutex_t lock;
	pthread_cond_t moved; // any of what follows
	struct queue answered, unkept;
	unsigned asked;     // and not answered
	bool stop, is_read; // is_read: nothing comes behind what is unkept
	pthread_t reader, keeper;
	struct debounce debounce;
	size_t kept; // of the keeper: the weight of answers, since names that nobody has were forgotten
};

static void push(struct queue *q, struct upstream_project *p)
{
	GROW(q->project, q->count, q->room);
	q->project[q->count++] = p;
}

// --- asking ---

// The pool's thread: reading is for another one.
static void on_answer(void *ctx, struct upstream_project *p)
{
	struct upstream_writer *i = ctx;
	pthread_mutex_lock(&i->lock);
	push(&i->answered, p);
	i->asked--;
	pthread_cond_broadcast(&i->moved);
	pthread_mutex_unlock(&i->lock);
}

void upstream_writer_ask(struct upstream_writer *i, struct upstream_project *p)
{
	pthread_mutex_lock(&i->lock);
	i->asked++;
	pthread_mutex_unlock(&i->lock);
	upstream_request(i->upstream, p, on_answer, i);
}

// --- reading ---

static void read_one(struct upstream_writer *i, struct upstream_project *p)
{
	upstream_parse(i->upstream, p);
	i->settled(i->ctx, p);
	size_t weight = debounce_weight(upstream_project_bytes(p));
	pthread_mutex_lock(&i->lock);
	while (i->unkept.count >= MOST_UNKEPT && !i->stop)
		pthread_cond_wait(&i->moved, &i->lock);
	push(&i->unkept, p);
	i->unkept.weight += weight;
	debounce_came(&i->debounce, weight);
	pthread_cond_broadcast(&i->moved);
	pthread_mutex_unlock(&i->lock);
}

static int by_length(const void *a, const void *b)
{
	const struct upstream_project *const *x = a, *const *y = b;
	size_t one = upstream_project_unread(*x), other = upstream_project_unread(*y);
	return (one > other) - (one < other);
}

// Of those that are there the shortest first, for whoever waits for one of them; of the others that come meanwhile none.
static void *read_all(void *ctx)
{
	struct upstream_writer *i = ctx;
	pthread_mutex_lock(&i->lock);
	while (!i->stop || i->asked || i->answered.count) {
		struct queue q = i->answered;
		i->answered = (struct queue){0};
		if (!q.count)
			pthread_cond_wait(&i->moved, &i->lock);
		pthread_mutex_unlock(&i->lock);
		if (q.count)
			qsort(q.project, q.count, sizeof(*q.project), by_length);
		for (size_t k = 0; k < q.count; k++)
			read_one(i, q.project[k]);
		free(q.project);
		pthread_mutex_lock(&i->lock);
	}
	i->is_read = true;
	pthread_cond_broadcast(&i->moved);
	pthread_mutex_unlock(&i->lock);
	return NULL;
}

// --- keeping ---

// All of the queue in one transaction.
static void keep(struct upstream_writer *i, const struct queue *q)
{
	struct err e = ERR_INIT;
	struct catalog_lease reader;
	int kept = catalog_pool_take(i->readers, &reader, &e);
	if (kept == 0)
		kept = upstream_save(i->upstream, reader.catalog, q->project, q->count, &e);
	bool is_kept = kept == 0;
	i->kept += q->weight;
	if (kept == 0 && i->kept >= SWEEP_EVERY) {
		i->kept = 0;
		kept = upstream_forget(reader.catalog, &e);
	}
	catalog_pool_give(i->readers, &reader);
	if (kept < 0)
		log_error("what upstream has is not kept: %s", e.msg);
	for (size_t k = 0; k < q->count; k++) {
		i->written(i->ctx, q->project[k], is_kept);
		upstream_project_unref(q->project[k]);
	}
	free(q->project);
}

// In each lull, all that has come until then.
static void *keep_all(void *ctx)
{
	struct upstream_writer *i = ctx;
	thread_pool_set_nice(KEEPERS_NICE);
	pthread_mutex_lock(&i->lock);
	while (!i->is_read || i->unkept.count) {
		if (!i->unkept.count) {
			pthread_cond_wait(&i->moved, &i->lock);
			continue;
		}
		pthread_mutex_unlock(&i->lock);
		debounce_wait(&i->debounce);
		pthread_mutex_lock(&i->lock);
		struct queue q = i->unkept;
		i->unkept = (struct queue){0};
		debounce_done(&i->debounce, q.weight);
		pthread_cond_broadcast(&i->moved);
		pthread_mutex_unlock(&i->lock);
		keep(i, &q);
		pthread_mutex_lock(&i->lock);
	}
	pthread_mutex_unlock(&i->lock);
	return NULL;
}

// --- beginning, end ---

struct upstream_writer *upstream_writer_new(struct upstream *u, struct catalog_pool *readers,
	upstream_writer_fn *settled, upstream_writer_written_fn *written, void *ctx)
{
	struct upstream_writer *i = xcalloc(1, sizeof(*i));
	i->upstream = u;
	i->readers = readers;
	i->settled = settled;
	i->written = written;
	i->ctx = ctx;
	pthread_mutex_init(&i->lock, NULL);
	pthread_cond_init(&i->moved, NULL);
	debounce_init(&i->debounce, DEBOUNCE_PAUSE_MS, DEBOUNCE_MOST);
	if (pthread_create(&i->reader, NULL, read_all, i) != 0 || pthread_create(&i->keeper, NULL, keep_all, i) != 0)
		abort();
	pthread_setname_np(i->reader, "read");
	pthread_setname_np(i->keeper, "write down");
	return i;
}

void upstream_writer_free(struct upstream_writer *i)
{
	if (!i)
		return;
	pthread_mutex_lock(&i->lock);
	i->stop = true;
	pthread_cond_broadcast(&i->moved);
	pthread_mutex_unlock(&i->lock);
	pthread_join(i->reader, NULL);
	debounce_close(&i->debounce);
	pthread_join(i->keeper, NULL);
	debounce_destroy(&i->debounce);
	pthread_cond_destroy(&i->moved);
	pthread_mutex_destroy(&i->lock);
	free(i);
}
