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
	MAX_AGE = 600,       // where upstream does not say
};

struct gateway {
	struct upstream *upstream;
	struct facts *facts;
	struct intake *intake;
	struct readers *readers;
	struct asking *asking;
	struct metrics *metrics;
	upstream_fn *learn;
	void *ctx; // its
	_Atomic int64_t max_age, negative_max_age, stale;
	atomic_bool is_offline;
	// A project's hash chooses the slot: other bits of it, and the second until which it is fresh.
	_Atomic uint64_t fresh[FRESH_SLOTS];
};

// --- what is fresh ---

static _Atomic uint64_t *slot_of(struct gateway *g, uint64_t hash)
{
	return &g->fresh[hash % FRESH_SLOTS];
}

bool gateway_is_fresh(struct gateway *g, struct str project)
{
	uint64_t hash = str_hash(project, 0);
	uint64_t slot = atomic_load_explicit(slot_of(g, hash), memory_order_acquire);
	return slot >> 32 == hash >> 32 && (long)(slot & UINT32_MAX) > clock_seconds();
}

static void set_fresh(struct gateway *g, const char *project, int64_t seconds)
{
	uint64_t hash = str_hash(str_from(project), 0);
	uint64_t until = (uint64_t)(clock_seconds() + seconds);
	atomic_store_explicit(slot_of(g, hash), (hash >> 32 << 32) | (until & UINT32_MAX), memory_order_release);
}

// --- asking ---

static bool may_ask(struct gateway *g, const char *project, int64_t since)
{
	return !g->is_offline && asking_may(g->asking, project, since);
}

// It is this project's turn.
static void on_turn(void *ctx, const char *project)
{
	struct gateway *g = ctx;
	struct upstream_project *p = NULL;
	struct reader reader;
	struct err e = ERR_INIT;
	bool is_loaded = !asking_has_given_up(g->asking) && readers_take(g->readers, &reader, &e) == 0;
	if (is_loaded) {
		is_loaded = upstream_load(g->upstream, reader.catalog, project, &p, &e) == 0;
		readers_give(g->readers, &reader);
	}
	if (is_loaded) {
		intake_ask(g->intake, p);
		return;
	}
	if (e.kind)
		log_error("upstream is not asked for a page: %s", e.msg);
	asking_end(g->asking, project, NULL);
}

void gateway_let_go(struct gateway *g)
{
	asking_let_go(g->asking);
}

void gateway_count(struct gateway *g, struct turns_counts *out)
{
	asking_count(g->asking, out);
}

// --- what was answered ---

struct lesson {
	struct gateway *gateway;
	enum upstream_result result;
	bool is_unchanged;
};

static int learn(void *ctx, const struct upstream_answer *answer, struct err *e)
{
	struct lesson *l = ctx;
	l->result = answer->result;
	l->is_unchanged = answer->result == UPSTREAM_KNOWN && answer->is_unchanged;
	return l->gateway->learn(l->gateway->ctx, answer, e);
}

// The intake's thread. Whoever is woken finds what is new.
static void on_settled(void *ctx, struct upstream_project *p)
{
	struct gateway *g = ctx;
	struct lesson l = {.gateway = g};
	struct err e = ERR_INIT;
	facts_put(g->facts, p);
	if (upstream_tell(g->upstream, p, learn, &l, &e) < 0)
		log_error("what upstream has: %s", e.msg);
	metrics_upstream(g->metrics, l.result, l.is_unchanged, asking_ms(g->asking, upstream_project_name(p)));
	asking_end(g->asking, upstream_project_name(p), p);
}

static void on_written(void *ctx, struct upstream_project *p, bool is_kept)
{
	struct gateway *g = ctx;
	asking_written(g->asking, p, is_kept);
}

// --- telling ---

struct telling {
	struct gateway *gateway;
	upstream_fn *fn;
	void *ctx;
	bool may_wait;
	int64_t since; // what was said before counts for nothing
	bool asks;  // what is told, or nothing, is to be asked for
	bool waits; // nothing was told
};

static int64_t most(int64_t said, int64_t cap)
{
	int64_t age = said < 0 ? MAX_AGE : said;
	return age < cap ? age : cap;
}

// For how many seconds more what is known is as good as new; 0: it is not.
static int64_t freshness(const struct gateway *g, const struct upstream_answer *a, int64_t now)
{
	int64_t age = 0, since = a->asked;
	if (a->result == UPSTREAM_KNOWN) {
		age = most(a->max_age, g->max_age);
		since = a->fetched;
	} else if (a->result == UPSTREAM_ABSENT || a->result == UPSTREAM_NOT_FOUND || a->result == UPSTREAM_QUARANTINED) {
		age = g->negative_max_age;
	}
	int64_t left = since + age - now;
	return since && left > 0 && left <= age ? left : 0;
}

static bool is_usable(const struct gateway *g, const struct upstream_answer *a, int64_t now)
{
	return a->stale && now - a->fetched < g->stale;
}

static int on_recalled(void *ctx, const struct upstream_answer *answer, struct err *e)
{
	struct telling *t = ctx;
	struct gateway *g = t->gateway;
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
static int find(struct gateway *g, struct catalog *c, const char *project, struct upstream_project **out, struct err *e)
{
	uint64_t epoch = facts_epoch(g->facts);
	*out = facts_get(g->facts, project);
	if (!*out)
		*out = asking_news(g->asking, project);
	if (*out && !upstream_project_is_outdone(*out))
		return 0;
	if (*out)
		facts_keep_up(g->facts, project, INT64_MAX); // it goes
	upstream_project_unref(*out);
	if (upstream_load(g->upstream, c, project, out, e) < 0)
		return -1;
	facts_add(g->facts, *out, epoch);
	return 0;
}

// Whosever the name is: that is for those to judge who are told.
int gateway_recall(struct gateway *g, struct catalog *c, const char *project, upstream_fn *fn, void *ctx, struct err *e)
{
	struct upstream_project *p = NULL;
	if (find(g, c, project, &p, e) < 0)
		return -1;
	int told = upstream_tell(g->upstream, p, fn, ctx, e);
	upstream_project_unref(p);
	return told;
}

// What is known to be older than what somebody else wrote is no news; ours, where it is newer, is written after that.
bool gateway_keep_up(struct gateway *g, const char *project, int64_t changed)
{
	asking_drop_older(g->asking, project, changed);
	return facts_keep_up(g->facts, project, changed);
}

void gateway_forget(struct gateway *g)
{
	facts_clear(g->facts);
}

// The last that is done here is to ask: with again gone, nothing of the request is ours any more.
int gateway_project(struct gateway *g, struct catalog *c, const char *project, const char *peer, int64_t since,
	struct waiter *again, upstream_fn *fn, void *ctx, struct err *e)
{
	struct telling t = {.gateway = g, .fn = fn, .ctx = ctx, .may_wait = again != NULL, .since = since};
	if (gateway_recall(g, c, project, on_recalled, &t, e) < 0)
		return -1;
	enum asking_joined joined = t.asks ? asking_join(g->asking, project, peer, t.waits ? again : NULL) : ASKING_JOINED;
	if (!t.waits)
		return GATEWAY_TOLD;
	return joined == ASKING_FULL ? GATEWAY_BUSY : GATEWAY_LATER;
}

static int on_wondered(void *ctx, const struct upstream_answer *answer, struct err *e)
{
	struct telling *t = ctx;
	t->asks = !answer->certain || answer->certain < t->since;
	return t->asks ? 0 : t->fn(t->ctx, answer, e);
}

int gateway_wonder(struct gateway *g, struct catalog *c, const char *project, int64_t since, struct err *e)
{
	struct telling t = {.gateway = g, .fn = g->learn, .ctx = g->ctx, .since = since};
	if (gateway_recall(g, c, project, on_wondered, &t, e) < 0)
		return -1;
	if (t.asks && may_ask(g, project, since))
		asking_join(g->asking, project, NULL, NULL);
	return 0;
}

// --- beginning, end ---

// What was fresh by the configuration before counts anew.
void gateway_configure(struct gateway *g, const struct config *c)
{
	g->max_age = (int64_t)c->upstream_max_age;
	g->negative_max_age = (int64_t)c->upstream_negative_max_age;
	g->stale = (int64_t)c->upstream_stale;
	g->is_offline = c->upstream_offline;
	for (size_t i = 0; i < FRESH_SLOTS; i++)
		atomic_store_explicit(&g->fresh[i], 0, memory_order_release);
}

struct gateway *gateway_start(const struct config *c, struct upstream *u, struct readers *readers, struct metrics *metrics,
	upstream_fn *learn_fn, void *ctx)
{
	struct gateway *g = xcalloc(1, sizeof(*g));
	g->upstream = u;
	g->readers = readers;
	g->asking = asking_new((unsigned)c->upstream_concurrency, metrics, on_turn, g);
	g->metrics = metrics;
	g->learn = learn_fn;
	g->ctx = ctx;
	gateway_configure(g, c);
	fetch_pool_start(upstream_pool(u));
	g->facts = facts_new(FACTS_BYTES);
	g->intake = intake_new(u, readers, on_settled, on_written, g);
	return g;
}

void gateway_give_up(struct gateway *g)
{
	if (g)
		asking_give_up(g->asking);
}

// What is asked is answered first: cancelled. That is taken in.
void gateway_free(struct gateway *g)
{
	if (!g)
		return;
	gateway_give_up(g);
	fetch_pool_cancel(upstream_pool(g->upstream), 0);
	intake_free(g->intake);
	facts_free(g->facts);
	asking_free(g->asking);
	free(g);
}
