// SPDX-License-Identifier: Apache-2.0
#include "server/upstream/upstream-pages.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/log.h"
#include "lib/os/clock.h"
#include "server/http/metrics.h"
#include "server/upstream/page-requests.h"
#include "server/upstream/upstream-cache.h"
#include "server/upstream/upstream-writer.h"

enum {
	FRESH_SLOTS = 1 << 16,
	MEANWHILE_SECONDS = 1, // so long what is old is sent without another look, while it is asked for again
	FACTS_BYTES = 16 << 20,
	MAX_AGE = 600, // where upstream does not say
};

struct upstream_pages {
	struct upstream *upstream;
	struct upstream_cache *facts;
	struct upstream_writer *upstream_writer;
	struct catalog_pool *readers;
	struct page_requests *asking;
	struct metrics *metrics;
	upstream_fn *learn;
	void *ctx; // its
	_Atomic int64_t max_age, negative_max_age, stale;
	atomic_bool is_offline;
	// A project's hash chooses the slot: other bits of it, and the second until which it is fresh.
	_Atomic uint64_t fresh[FRESH_SLOTS];
};

// --- what is fresh ---

static _Atomic uint64_t *slot_of(struct upstream_pages *g, uint64_t hash)
{
	return &g->fresh[hash % FRESH_SLOTS];
}

bool upstream_pages_is_fresh(struct upstream_pages *g, struct str project)
{
	uint64_t hash = str_hash(project, 0);
	uint64_t slot = atomic_load_explicit(slot_of(g, hash), memory_order_acquire);
	return slot >> 32 == hash >> 32 && (long)(slot & UINT32_MAX) > clock_seconds();
}

static void set_fresh(struct upstream_pages *g, const char *project, int64_t seconds)
{
	uint64_t hash = str_hash(str_from(project), 0);
	uint64_t until = (uint64_t)(clock_seconds() + seconds);
	atomic_store_explicit(slot_of(g, hash), (hash >> 32 << 32) | (until & UINT32_MAX), memory_order_release);
}

// --- asking ---

static bool may_ask(struct upstream_pages *g, const char *project, int64_t since)
{
	return !g->is_offline && page_requests_may(g->asking, project, since);
}

// It is this project's turn.
static void on_turn(void *ctx, const char *project)
{
	struct upstream_pages *g = ctx;
	struct upstream_project *p = NULL;
	struct catalog_lease reader;
	struct err e = ERR_INIT;
	bool is_loaded = !page_requests_has_given_up(g->asking) && catalog_pool_take(g->readers, &reader, &e) == 0;
	if (is_loaded) {
		is_loaded = upstream_load(g->upstream, reader.catalog, project, &p, &e) == 0;
		catalog_pool_give(g->readers, &reader);
	}
	if (is_loaded) {
		upstream_writer_ask(g->upstream_writer, p);
		return;
	}
	if (e.kind)
		log_error("upstream is not asked for a page: %s", e.msg);
	page_requests_end(g->asking, project, NULL);
}

void upstream_pages_let_go(struct upstream_pages *g)
{
	page_requests_let_go(g->asking);
}

void upstream_pages_count(struct upstream_pages *g, struct fair_queue_counts *out)
{
	page_requests_count(g->asking, out);
}

// --- what was answered ---

struct lesson {
	struct upstream_pages *upstream_pages;
	enum upstream_result result;
	bool is_unchanged;
};

static int learn(void *ctx, const struct upstream_answer *answer, struct err *e)
{
	struct lesson *l = ctx;
	l->result = answer->result;
	l->is_unchanged = answer->result == UPSTREAM_KNOWN && answer->is_unchanged;
	return l->upstream_pages->learn(l->upstream_pages->ctx, answer, e);
}

// The intake's thread. Whoever is woken finds what is new.
static void on_settled(void *ctx, struct upstream_project *p)
{
	struct upstream_pages *g = ctx;
	struct lesson l = {.upstream_pages = g};
	struct err e = ERR_INIT;
	upstream_cache_put(g->facts, p);
	if (upstream_report(g->upstream, p, learn, &l, &e) < 0)
		log_error("what upstream has: %s", e.msg);
	metrics_upstream(g->metrics, l.result, l.is_unchanged, page_requests_ms(g->asking, upstream_project_name(p)));
	page_requests_end(g->asking, upstream_project_name(p), p);
}

static void on_written(void *ctx, struct upstream_project *p, bool is_kept)
{
	struct upstream_pages *g = ctx;
	page_requests_written(g->asking, p, is_kept);
}

// --- telling ---

struct telling {
	struct upstream_pages *upstream_pages;
	upstream_fn *fn;
	void *ctx;
	bool may_wait;
	int64_t since; // what was said before counts for nothing
	bool asks;     // what is told, or nothing, is to be asked for
	bool waits;    // nothing was told
};

static int64_t most(int64_t said, int64_t cap)
{
	int64_t age = said < 0 ? MAX_AGE : said;
	return age < cap ? age : cap;
}

// For how many seconds more what is known is as good as new; 0: it is not.
static int64_t freshness(const struct upstream_pages *g, const struct upstream_answer *a, int64_t now)
{
	int64_t age = 0, since = a->asked;
	if (a->result == UPSTREAM_KNOWN) {
		age = most(a->max_age, g->max_age);
		since = a->fetched;
	} else if (a->result == UPSTREAM_ABSENT || a->result == UPSTREAM_NOT_FOUND ||
		   a->result == UPSTREAM_QUARANTINED) {
		age = g->negative_max_age;
	}
	int64_t left = since + age - now;
	return since && left > 0 && left <= age ? left : 0;
}

static bool is_usable(const struct upstream_pages *g, const struct upstream_answer *a, int64_t now)
{
	return a->stale && now - a->fetched < g->stale;
}

static int on_recalled(void *ctx, const struct upstream_answer *answer, struct err *e)
{
	struct telling *t = ctx;
	struct upstream_pages *g = t->upstream_pages;
	int64_t now = clock_wall_seconds();
	bool counts = answer->certain >= t->since;
	int64_t left = counts ? freshness(g, answer, now) : 0;
	bool usable = counts && is_usable(g, answer, now);
	t->asks = !left && may_ask(g, answer->project, t->since);
	t->waits = t->asks && t->may_wait && !usable;
	if (t->waits)
		return 0;
	if (left || usable) {
		set_fresh(g, answer->project, left ? left : MEANWHILE_SECONDS);
		return t->fn(t->ctx, answer, e);
	}
	struct upstream_answer without = *answer;
	without.page = without.stale = NULL;
	return t->fn(t->ctx, &without, e);
}

// What has just come may be out of memory before it is in the catalog.
static int find(struct upstream_pages *g, struct catalog *c, const char *project, struct upstream_project **out,
	struct err *e)
{
	uint64_t epoch = upstream_cache_epoch(g->facts);
	*out = upstream_cache_get(g->facts, project);
	if (!*out)
		*out = page_requests_news(g->asking, project);
	if (*out && !upstream_project_is_superseded(*out))
		return 0;
	if (*out)
		upstream_cache_keep_up(g->facts, project, INT64_MAX); // it goes
	upstream_project_unref(*out);
	if (upstream_load(g->upstream, c, project, out, e) < 0)
		return -1;
	upstream_cache_add(g->facts, *out, epoch);
	return 0;
}

// Whosever the name is: that is for those to judge who are told.
int upstream_pages_recall(struct upstream_pages *g, struct catalog *c, const char *project, upstream_fn *fn, void *ctx,
	struct err *e)
{
	struct upstream_project *p = NULL;
	if (find(g, c, project, &p, e) < 0)
		return -1;
	int told = upstream_report(g->upstream, p, fn, ctx, e);
	upstream_project_unref(p);
	return told;
}

// What is known to be older than what somebody else wrote is no news; ours, where it is newer, is written after that.
bool upstream_pages_note_change(struct upstream_pages *g, const char *project, int64_t changed)
{
	page_requests_drop_older(g->asking, project, changed);
	return upstream_cache_keep_up(g->facts, project, changed);
}

void upstream_pages_clear(struct upstream_pages *g)
{
	upstream_cache_clear(g->facts);
}

// The last that is done here is to ask: with again gone, nothing of the request is ours any more.
int upstream_pages_get(struct upstream_pages *g, struct catalog *c, const char *project, const char *peer,
	int64_t since, struct continuation *continuation, upstream_fn *fn, void *ctx, struct err *e)
{
	struct telling t = {
		.upstream_pages = g, .fn = fn, .ctx = ctx, .may_wait = continuation != NULL, .since = since};
	if (upstream_pages_recall(g, c, project, on_recalled, &t, e) < 0)
		return -1;
	enum page_requests_joined joined =
		t.asks ? page_requests_join(g->asking, project, peer, t.waits ? continuation : NULL)
		       : PAGE_REQUESTS_JOINED;
	if (!t.waits)
		return UPSTREAM_PAGES_TOLD;
	return joined == PAGE_REQUESTS_FULL ? UPSTREAM_PAGES_BUSY : UPSTREAM_PAGES_LATER;
}

static int on_wondered(void *ctx, const struct upstream_answer *answer, struct err *e)
{
	struct telling *t = ctx;
	t->asks = !answer->certain || answer->certain < t->since;
	return t->asks ? 0 : t->fn(t->ctx, answer, e);
}

int upstream_pages_probe(struct upstream_pages *g, struct catalog *c, const char *project, int64_t since, struct err *e)
{
	struct telling t = {.upstream_pages = g, .fn = g->learn, .ctx = g->ctx, .since = since};
	if (upstream_pages_recall(g, c, project, on_wondered, &t, e) < 0)
		return -1;
	if (t.asks && may_ask(g, project, since))
		page_requests_join(g->asking, project, NULL, NULL);
	return 0;
}

// --- beginning, end ---

// What was fresh by the configuration before counts anew.
void upstream_pages_configure(struct upstream_pages *g, const struct config *c)
{
	g->max_age = (int64_t)c->upstream_max_age;
	g->negative_max_age = (int64_t)c->upstream_negative_max_age;
	g->stale = (int64_t)c->upstream_stale;
	g->is_offline = c->upstream_offline;
	for (size_t i = 0; i < FRESH_SLOTS; i++)
		atomic_store_explicit(&g->fresh[i], 0, memory_order_release);
}

struct upstream_pages *upstream_pages_start(const struct config *c, struct upstream *u, struct catalog_pool *readers,
	struct metrics *metrics, upstream_fn *learn_fn, void *ctx)
{
	struct upstream_pages *g = xcalloc(1, sizeof(*g));
	g->upstream = u;
	g->readers = readers;
	g->asking = page_requests_new((unsigned)c->upstream_concurrency, metrics, on_turn, g);
	g->metrics = metrics;
	g->learn = learn_fn;
	g->ctx = ctx;
	upstream_pages_configure(g, c);
	fetch_pool_start(upstream_pool(u));
	g->facts = upstream_cache_new(FACTS_BYTES);
	g->upstream_writer = upstream_writer_new(u, readers, on_settled, on_written, g);
	return g;
}

void upstream_pages_cancel(struct upstream_pages *g)
{
	if (g)
		page_requests_cancel(g->asking);
}

// What is asked is answered first: cancelled. That is taken in.
void upstream_pages_free(struct upstream_pages *g)
{
	if (!g)
		return;
	upstream_pages_cancel(g);
	fetch_pool_cancel(upstream_pool(g->upstream), 0);
	upstream_writer_free(g->upstream_writer);
	upstream_cache_free(g->facts);
	page_requests_free(g->asking);
	free(g);
}
