// SPDX-License-Identifier: Apache-2.0
#include "server/upstream/upstream-pages.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/hash.h"
#include "lib/base/log.h"
#include "lib/base/mem.h"
#include "lib/os/clock.h"
#include "lib/os/thread-pool.h"
#include "lib/state/upstream/upstream.h"
#include "server/core/catalog-pool.h"
#include "server/http/metrics.h"
#include "server/upstream/debounce.h"
#include "server/upstream/page-requests.h"
#include "server/upstream/upstream-cache.h"

// Parses upstream's answers in one thread, and saves them to the catalog in another one.
//
// Parsing a large page takes time, and other processes may be writing to the catalog. So saving is deferred until a
// burst of requests is over (debounce.h), and no client waits for it. If 64 answers are not saved yet, parsing waits.

// On the parsing thread: the project is parsed, and may be shown to clients from now on.
static void show_parsed(struct upstream_pages *g, struct upstream_project *p);

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
	struct upstream_pages *pages;
	struct page_requests *requests;
	struct upstreams *upstreams;
	struct catalog_pool *catalog_pool;
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

// --- parsing ---

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
		for (size_t k = 0; k < q.count; k++) {
			struct upstream_project *p = q.project[k];
			upstream_parse(w->upstreams, p);
			show_parsed(w->pages, p);
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
		free(q.project);
		pthread_mutex_lock(&w->lock);
	}
	w->is_parsed = true;
	pthread_cond_broadcast(&w->changed);
	pthread_mutex_unlock(&w->lock);
	return NULL;
}

// --- saving ---

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
		// Saves the whole queue in one transaction.
		struct err e = ERR_INIT;
		struct catalog_lease lease;
		int result = catalog_pool_take(w->catalog_pool, &lease, &e);
		if (result == 0)
			result = upstream_save(w->upstreams, lease.catalog, q.project, q.count, &e);
		bool is_kept = result == 0;
		w->saved_weight += q.weight;
		if (result == 0 && w->saved_weight >= SWEEP_EVERY) {
			w->saved_weight = 0;
			result = upstream_forget(w->upstreams, lease.catalog, &e);
		}
		catalog_pool_give(w->catalog_pool, &lease);
		if (result < 0)
			log_error("upstream's answers are not saved: %s", e.msg);
		for (size_t k = 0; k < q.count; k++) {
			page_requests_set_saved(w->requests, q.project[k], is_kept);
			upstream_project_unref(q.project[k]);
		}
		free(q.project);
		pthread_mutex_lock(&w->lock);
	}
	pthread_mutex_unlock(&w->lock);
	return NULL;
}

// --- start and stop ---

enum {
	FRESH_SLOTS = 1 << 16,
	TOLD_SLOTS = 1 << 10,
	STALE_SECONDS = 1, // how long a stale page is sent from memory, while it is requested again
	CACHE_BYTES = 16 << 20,
	MAX_AGE = 600, // seconds, if upstream does not say
};

struct upstream_pages {
	struct upstreams *upstreams;
	struct upstream_cache *cache;
	struct upstream_writer *writer;
	struct catalog_pool *catalog_pool;
	struct page_requests *requests;
	struct metrics *metrics;
	upstream_fn *learn;
	void *ctx; // for learn
	atomic_bool is_offline;
	_Atomic uint64_t told[TOLD_SLOTS]; // hashes of the file names with two hashes that the log has
	// The hash of the project, and of the order, selects the slot. A slot has other bits of the hash, and the
	// second until which the page is fresh.
	_Atomic uint64_t fresh[FRESH_SLOTS];
};

// --- freshness ---

static _Atomic uint64_t *slot_of(struct upstream_pages *g, uint64_t hash)
{
	return &g->fresh[hash % FRESH_SLOTS];
}

static uint64_t hash_of_order(struct str project, const struct config_order *order)
{
	return hash_of(project, hash_of((struct str){(const char *)order->item, order->count}, order->is_together));
}

bool upstream_pages_is_fresh(struct upstream_pages *g, struct str project, const struct config_order *order)
{
	uint64_t hash = hash_of_order(project, order);
	uint64_t slot = atomic_load_explicit(slot_of(g, hash), memory_order_acquire);
	return slot >> 32 == hash >> 32 && (long)(slot & UINT32_MAX) > clock_seconds();
}

// --- requests ---

static bool may_ask(struct upstream_pages *g, const struct upstream_answer *a, const struct config_order *order,
	int64_t since)
{
	return !g->is_offline && page_requests_may_ask(g->requests, a->project, order, a->depends, since);
}

// The project's turn in the queue has come.
static void request_page(void *ctx, const char *project, const struct config_order *order)
{
	struct upstream_pages *g = ctx;
	struct upstream_project *p = NULL;
	struct catalog_lease lease;
	struct err e = ERR_INIT;
	bool is_loaded =
		!page_requests_is_cancelled(g->requests) && catalog_pool_take(g->catalog_pool, &lease, &e) == 0;
	if (is_loaded) {
		is_loaded = upstream_load(g->upstreams, lease.catalog, project, &p, &e) == 0;
		catalog_pool_give(g->catalog_pool, &lease);
	}
	if (is_loaded) {
		// Sends the request for a project, and takes p over.
		pthread_mutex_lock(&g->writer->lock);
		g->writer->requested++;
		pthread_mutex_unlock(&g->writer->lock);
		upstream_request(g->writer->upstreams, p, order, on_answer, g->writer);
		return;
	}
	if (e.kind)
		log_error("a page is not requested from upstream: %s", e.msg);
	page_requests_end(g->requests, project, NULL);
}

void upstream_pages_drop_left(struct upstream_pages *g)
{
	page_requests_drop_left(g->requests);
}

void upstream_pages_count(struct upstream_pages *g, struct fair_queue_counts *out)
{
	page_requests_count(g->requests, out);
}

// --- answers of upstream ---

struct learned {
	struct upstream_pages *upstream_pages;
	enum upstream_result result;
	bool is_unchanged;
};

static int learn_answer(void *ctx, const struct upstream_answer *answer, struct err *e)
{
	struct learned *l = ctx;
	l->result = answer->result;
	l->is_unchanged = answer->result == UPSTREAM_KNOWN && answer->is_unchanged;
	return l->upstream_pages->learn(l->upstream_pages->ctx, answer, e);
}

static void log_conflict(void *ctx, const char *filename, const char *first, const char *other)
{
	struct upstream_pages *g = ctx;
	uint64_t hash = hash_of(str_from(filename), 0);
	if (atomic_exchange_explicit(&g->told[hash % TOLD_SLOTS], hash, memory_order_relaxed) != hash)
		log_warn("upstream %s has another %s than upstream %s, whose file counts", other, filename, first);
}

static int look_for_conflicts(void *ctx, const struct upstream_answer *answer, struct err *e UNUSED)
{
	if (answer->is_changed)
		upstream_conflicts(answer, log_conflict, ctx);
	return 0;
}

// The answer in memory, with a reference; NULL: there is none.
static struct upstream_project *find_in_memory(struct upstream_pages *g, const char *project)
{
	struct upstream_project *p = upstream_cache_get(g->cache, project);
	return p ? p : page_requests_unsaved(g->requests, project); // evicted before it was in the catalog?
}

// The clients that are resumed find the new answer.
static void show_parsed(struct upstream_pages *g, struct upstream_project *p)
{
	struct err e = ERR_INIT;
	const char *project = upstream_project_name(p);
	const struct config_order *order = upstream_project_order(p);
	struct upstream_project *before = find_in_memory(g, project);
	upstream_project_adopt(p, before);
	upstream_project_unref(before);
	upstream_cache_put(g->cache, p);
	int result = upstream_report_listed(g->upstreams, p, order, look_for_conflicts, g, &e);
	for (size_t i = 0; i < order->count && result == 0; i++) {
		struct learned l = {.upstream_pages = g};
		if (!upstream_project_asked(p, order->item[i]))
			continue;
		result = upstream_report_one(g->upstreams, p, order->item[i], order->is_together, learn_answer, &l, &e);
		metrics_upstream(g->metrics, l.result, l.is_unchanged, page_requests_elapsed_ms(g->requests, project));
	}
	if (result < 0)
		log_error("upstream's answer cannot be used: %s", e.msg);
	page_requests_end(g->requests, project, p);
}

// --- look-ups ---

struct page_lookup {
	struct upstream_pages *upstream_pages;
	const struct config_order *order;
	upstream_fn *fn;
	void *ctx;
	bool may_wait;
	int64_t since; // a definitive answer from before then does not count
	bool asks;     // the project is to be requested
	bool waits;    // fn was not called: the client waits for the request
};

static int64_t capped_age(int64_t said, int64_t cap)
{
	int64_t age = said < 0 ? MAX_AGE : said;
	return age < cap ? age : cap;
}

// For how many seconds the answer stays fresh; 0: it is not.
static int64_t freshness(const struct upstream_answer *a, int64_t now)
{
	int64_t age = 0, since = a->asked;
	if (a->result == UPSTREAM_KNOWN) {
		age = capped_age(a->max_age, a->ages.max_age);
		since = a->fetched;
	} else if (a->result == UPSTREAM_ABSENT || a->result == UPSTREAM_NOT_FOUND ||
		   a->result == UPSTREAM_QUARANTINED) {
		age = a->ages.negative;
	}
	int64_t left = since + age - now;
	return since && left > 0 && left <= age ? left : 0;
}

static int on_loaded(void *ctx, const struct upstream_answer *answer, struct err *e)
{
	struct page_lookup *t = ctx;
	struct upstream_pages *g = t->upstream_pages;
	int64_t now = clock_wall_seconds();
	bool counts = answer->certain >= t->since;
	int64_t left = counts ? freshness(answer, now) : 0;
	// Times are whole seconds: one of the next second may be as young as an instant.
	bool usable = counts && answer->stale && now - answer->fetched <= answer->ages.stale;
	t->asks = !left && may_ask(g, answer, t->order, t->since);
	t->waits = t->asks && t->may_wait && (!usable || answer->is_partial);
	if (t->waits)
		return 0;
	if (left || usable) {
		uint64_t hash = hash_of_order(str_from(answer->project), t->order);
		uint64_t until = (uint64_t)(clock_seconds() + (left ? left : STALE_SECONDS));
		atomic_store_explicit(slot_of(g, hash), (hash >> 32 << 32) | (until & UINT32_MAX),
			memory_order_release);
		return t->fn(t->ctx, answer, e);
	}
	struct upstream_answer without = *answer;
	without.page = without.stale = NULL;
	return t->fn(t->ctx, &without, e);
}

// The owner of the name is not considered: fn does that.
int upstream_pages_load_cached(struct upstream_pages *g, struct catalog *c, const char *project,
	const struct config_order *order, upstream_fn *fn, void *ctx, struct err *e)
{
	uint64_t epoch = upstream_cache_epoch(g->cache);
	struct upstream_project *p = find_in_memory(g, project);
	if (!p || upstream_project_is_superseded(p)) {
		if (p)
			upstream_cache_note_change(g->cache, project, INT64_MAX); // drops it
		upstream_project_unref(p);
		if (upstream_load(g->upstreams, c, project, &p, e) < 0)
			return -1;
		upstream_cache_add(g->cache, p, epoch);
	}
	int reported = upstream_report_listed(g->upstreams, p, order, fn, ctx, e);
	upstream_project_unref(p);
	return reported;
}

// An unsaved answer that is older than another process's change is dropped. A newer one will be saved later.
bool upstream_pages_note_change(struct upstream_pages *g, const char *project, int64_t changed)
{
	page_requests_drop_older(g->requests, project, changed);
	return upstream_cache_note_change(g->cache, project, changed);
}

void upstream_pages_clear(struct upstream_pages *g)
{
	upstream_cache_clear(g->cache);
}

// page_requests_join() comes last: once it has the continuation, the request may be gone.
int upstream_pages_get(struct upstream_pages *g, struct catalog *c, const char *project, const struct config_order *order,
	const char *peer, int64_t since, struct continuation *continuation, upstream_fn *fn, void *ctx, struct err *e)
{
	struct page_lookup t = {.upstream_pages = g,
		.order = order,
		.fn = fn,
		.ctx = ctx,
		.may_wait = continuation != NULL,
		.since = since};
	if (upstream_pages_load_cached(g, c, project, order, on_loaded, &t, e) < 0)
		return -1;
	enum page_requests_joined joined =
		t.asks ? page_requests_join(g->requests, project, order, peer, t.waits ? continuation : NULL)
		       : PAGE_REQUESTS_JOINED;
	if (!t.waits)
		return UPSTREAM_PAGES_ANSWERED;
	return joined == PAGE_REQUESTS_FULL ? UPSTREAM_PAGES_BUSY : UPSTREAM_PAGES_LATER;
}

static int on_probed(void *ctx, const struct upstream_answer *answer, struct err *e)
{
	struct page_lookup *t = ctx;
	struct upstream_pages *g = t->upstream_pages;
	const struct config_order *order = t->order;
	bool is_known = answer->certain && answer->certain >= t->since;
	t->asks = !is_known && may_ask(g, answer, order, t->since);
	for (size_t i = 0; i < order->count && is_known; i++)
		if (answer->depends & (uint32_t)1 << order->item[i] &&
			upstream_report_one(g->upstreams, answer->of, order->item[i], order->is_together, g->learn, g->ctx,
				e) < 0)
			return -1;
	return 0;
}

int upstream_pages_probe(struct upstream_pages *g, struct catalog *c, const char *project,
	const struct config_order *order, int64_t since, struct err *e)
{
	struct page_lookup t = {.upstream_pages = g, .order = order, .since = since};
	if (upstream_pages_load_cached(g, c, project, order, on_probed, &t, e) < 0)
		return -1;
	if (t.asks)
		page_requests_join(g->requests, project, order, NULL, NULL);
	return 0;
}

// --- start and stop ---

// Freshness by the old configuration is forgotten.
void upstream_pages_configure(struct upstream_pages *g, const struct config *c)
{
	struct err e = ERR_INIT;
	if (upstreams_configure(g->upstreams, c, &e) < 0)
		log_error("the rules of what is offered stay as they were: %s", e.msg);
	g->is_offline = c->upstream_offline;
	for (size_t i = 0; i < FRESH_SLOTS; i++)
		atomic_store_explicit(&g->fresh[i], 0, memory_order_release);
}

struct upstream_pages *upstream_pages_start(const struct config *c, struct upstreams *u,
	struct catalog_pool *catalog_pool, struct metrics *metrics, upstream_fn *learn_fn, void *ctx)
{
	struct upstream_pages *g = xcalloc(1, sizeof(*g));
	g->upstreams = u;
	g->catalog_pool = catalog_pool;
	g->requests = page_requests_new(upstreams_concurrency(u), metrics, request_page, g);
	g->metrics = metrics;
	g->learn = learn_fn;
	g->ctx = ctx;
	upstream_pages_configure(g, c);
	upstreams_start(u);
	g->cache = upstream_cache_new(CACHE_BYTES);
	struct upstream_writer *w = xcalloc(1, sizeof(*w));
	w->upstreams = u;
	w->catalog_pool = catalog_pool;
	w->pages = g;
	w->requests = g->requests;
	pthread_mutex_init(&w->lock, NULL);
	pthread_cond_init(&w->changed, NULL);
	debounce_init(&w->debounce, DEBOUNCE_PAUSE_MS, DEBOUNCE_MOST);
	if (pthread_create(&w->parser, NULL, parse_all, w) != 0 || pthread_create(&w->saver, NULL, save_all, w) != 0)
		abort();
	pthread_setname_np(w->parser, "parse");
	pthread_setname_np(w->saver, "save");
	g->writer = w;
	return g;
}

void upstream_pages_cancel(struct upstream_pages *g)
{
	if (g)
		page_requests_cancel(g->requests);
}

// The requests in flight end as cancelled, and the writer saves these answers.
void upstream_pages_free(struct upstream_pages *g)
{
	if (!g)
		return;
	upstream_pages_cancel(g);
	upstreams_cancel(g->upstreams);
	// Parses and saves all that was requested, then ends the threads.
	if (g->writer) {
		pthread_mutex_lock(&g->writer->lock);
		g->writer->stop = true;
		pthread_cond_broadcast(&g->writer->changed);
		pthread_mutex_unlock(&g->writer->lock);
		pthread_join(g->writer->parser, NULL);
		debounce_close(&g->writer->debounce);
		pthread_join(g->writer->saver, NULL);
		debounce_destroy(&g->writer->debounce);
		pthread_cond_destroy(&g->writer->changed);
		pthread_mutex_destroy(&g->writer->lock);
		free(g->writer);
	}
	upstream_cache_free(g->cache);
	page_requests_free(g->requests);
	free(g);
}
