// SPDX-License-Identifier: Apache-2.0
#include "server/gateway.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "server/facts.h"
#include "server/intake.h"
#include "server/metrics.h"

enum {
	BUCKETS = 1024,
	FRESH_SLOTS = 1 << 16,
	REST_SECONDS = 5,    // so long what was asked is not asked again, whatever came of it
	MEANWHILE_SECONDS = 1, // so long what is old is sent without another look, while it is asked for again
	FACTS_BYTES = 16 << 20,
	MAX_AGE = 600,       // where upstream does not say
};

// A project that is being asked for, or was a moment ago.
struct asking {
	struct asking *next; // of its bucket
	char *project;
	struct waiter *waiters;
	int64_t began_ms;
	long rests_until; // seconds of the monotonic clock; 0: it is being asked for
	struct upstream_project *news; // what came, while the catalog does not have it; NULL: nothing
};

struct gateway {
	struct upstream *upstream;
	struct facts *facts;
	struct intake *intake;
	struct metrics *metrics;
	upstream_fn *learn;
	void *ctx; // its
	_Atomic int64_t max_age, negative_max_age, stale;
	atomic_bool is_offline;
	pthread_mutex_t lock;
	struct asking *bucket[BUCKETS];
	bool has_given_up;
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

// --- who asks, who waits ---

static struct asking **asking_of(struct gateway *g, const char *project)
{
	struct asking **at = &g->bucket[str_hash(str_from(project), 0) % BUCKETS];
	while (*at && strcmp((*at)->project, project) != 0)
		at = &(*at)->next;
	return at;
}

static void free_asking(struct asking **at)
{
	struct asking *a = *at;
	*at = a->next;
	free(a->project);
	free(a);
}

// Those of the bucket that have rested long enough are forgotten.
static void tidy(struct gateway *g, const char *project)
{
	struct asking **at = &g->bucket[str_hash(str_from(project), 0) % BUCKETS];
	while (*at) {
		if ((*at)->rests_until && (*at)->rests_until <= clock_seconds() && !(*at)->news)
			free_asking(at);
		else
			at = &(*at)->next;
	}
}

static bool may_ask(struct gateway *g, const char *project)
{
	pthread_mutex_lock(&g->lock);
	tidy(g, project);
	struct asking *a = *asking_of(g, project);
	bool may = !g->is_offline && !g->has_given_up && (!a || !a->rests_until);
	pthread_mutex_unlock(&g->lock);
	return may;
}

// The waiter may have been woken, and all that it belongs to be gone, when this returns. True: the caller is the one who
// is to ask.
static bool join(struct gateway *g, const char *project, struct waiter *again)
{
	pthread_mutex_lock(&g->lock);
	struct asking **at = asking_of(g, project);
	bool is_first = !*at && !g->has_given_up;
	if (is_first) {
		*at = xcalloc(1, sizeof(**at));
		(*at)->project = xstrdup(project);
		(*at)->began_ms = clock_ms();
	}
	bool waits = *at && !(*at)->rests_until && !g->has_given_up;
	if (waits && again) {
		again->next = (*at)->waiters;
		(*at)->waiters = again;
	}
	pthread_mutex_unlock(&g->lock);
	if (again && !waits)
		again->wake(again);
	return is_first;
}

static void rest(struct gateway *g, struct upstream_project *p, enum upstream_result result, bool is_unchanged)
{
	pthread_mutex_lock(&g->lock);
	struct asking *a = *asking_of(g, upstream_project_name(p));
	struct waiter *waiters = a ? a->waiters : NULL;
	if (a)
		metrics_upstream(g->metrics, result, is_unchanged, clock_ms() - a->began_ms);
	if (a) {
		a->waiters = NULL;
		a->news = upstream_project_ref(p);
		a->rests_until = clock_seconds() + REST_SECONDS;
	}
	pthread_mutex_unlock(&g->lock);
	waiter_wake_all(waiters);
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
	rest(g, p, l.result, l.is_unchanged);
}

static void on_written(void *ctx, struct upstream_project *p)
{
	struct gateway *g = ctx;
	pthread_mutex_lock(&g->lock);
	struct asking *a = *asking_of(g, upstream_project_name(p));
	if (a && a->news == p) {
		upstream_project_unref(p);
		a->news = NULL;
	}
	pthread_mutex_unlock(&g->lock);
}

// --- telling ---

struct telling {
	struct gateway *gateway;
	upstream_fn *fn;
	void *ctx;
	bool may_wait;
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
	int64_t left = freshness(g, answer, now);
	t->asks = !left && may_ask(g, answer->project);
	t->waits = t->asks && t->may_wait && !is_usable(g, answer, now);
	if (t->waits)
		return 0;
	if (left || is_usable(g, answer, now)) {
		set_fresh(g, answer->project, left ? left : MEANWHILE_SECONDS);
		return t->fn(t->ctx, answer, e);
	}
	struct upstream_answer without = *answer;
	without.page = without.stale = NULL;
	return t->fn(t->ctx, &without, e);
}

static struct upstream_project *news_of(struct gateway *g, const char *project)
{
	pthread_mutex_lock(&g->lock);
	struct asking *a = *asking_of(g, project);
	struct upstream_project *news = a && a->news ? upstream_project_ref(a->news) : NULL;
	pthread_mutex_unlock(&g->lock);
	return news;
}

// What has just come may be out of memory before it is in the catalog.
static int find(struct gateway *g, struct catalog *c, const char *project, struct upstream_project **out, struct err *e)
{
	uint64_t epoch = facts_epoch(g->facts);
	*out = facts_get(g->facts, project);
	if (!*out)
		*out = news_of(g, project);
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
static int recall(struct gateway *g, struct catalog *c, const char *project, upstream_fn *fn, void *ctx, struct err *e)
{
	struct upstream_project *p = NULL;
	if (find(g, c, project, &p, e) < 0)
		return -1;
	int told = upstream_tell(g->upstream, p, fn, ctx, e);
	upstream_project_unref(p);
	return told;
}

// What is known to be older than what somebody else wrote is no news; ours, where it is newer, is written after that.
static void drop_old_news(struct gateway *g, const char *project, int64_t changed)
{
	struct upstream_project *old = NULL;
	pthread_mutex_lock(&g->lock);
	struct asking *a = *asking_of(g, project);
	int64_t written = a && a->news ? upstream_project_changed(a->news) : 0;
	if (written && written < changed)
		old = STEAL_PTR(a->news);
	pthread_mutex_unlock(&g->lock);
	upstream_project_unref(old);
}

bool gateway_keep_up(struct gateway *g, const char *project, int64_t changed)
{
	drop_old_news(g, project, changed);
	return facts_keep_up(g->facts, project, changed);
}

void gateway_forget(struct gateway *g)
{
	facts_clear(g->facts);
}

// The last that is done here: with again gone, nothing of the request is ours any more.
static int ask(struct gateway *g, struct catalog *c, const char *project, struct waiter *again, struct err *e)
{
	struct upstream_project *p = NULL;
	if (upstream_load(g->upstream, c, project, &p, e) < 0)
		return -1;
	if (join(g, project, again))
		intake_ask(g->intake, p);
	else
		upstream_project_unref(p);
	return 0;
}

int gateway_project(struct gateway *g, struct catalog *c, const char *project, struct waiter *again, upstream_fn *fn,
	void *ctx, struct err *e)
{
	struct telling t = {.gateway = g, .fn = fn, .ctx = ctx, .may_wait = again != NULL};
	if (recall(g, c, project, on_recalled, &t, e) < 0)
		return -1;
	if (t.asks && ask(g, c, project, t.waits ? again : NULL, e) < 0)
		return -1;
	return t.waits ? GATEWAY_LATER : GATEWAY_TOLD;
}

static int on_wondered(void *ctx, const struct upstream_answer *answer, struct err *e)
{
	struct telling *t = ctx;
	bool is_had = answer->fetched || answer->standing == UPSTREAM_QUARANTINED;
	bool is_new = freshness(t->gateway, answer, clock_wall_seconds()) > 0;
	t->asks = !is_had && !is_new;
	return is_new ? t->fn(t->ctx, answer, e) : 0;
}

int gateway_wonder(struct gateway *g, struct catalog *c, const char *project, struct err *e)
{
	struct telling t = {.gateway = g, .fn = g->learn, .ctx = g->ctx};
	if (recall(g, c, project, on_wondered, &t, e) < 0)
		return -1;
	return t.asks && may_ask(g, project) ? ask(g, c, project, NULL, e) : 0;
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
	g->metrics = metrics;
	g->learn = learn_fn;
	g->ctx = ctx;
	pthread_mutex_init(&g->lock, NULL);
	gateway_configure(g, c);
	fetch_pool_start(upstream_pool(u));
	g->facts = facts_new(FACTS_BYTES);
	g->intake = intake_new(u, readers, on_settled, on_written, g);
	return g;
}

void gateway_give_up(struct gateway *g)
{
	if (!g)
		return;
	pthread_mutex_lock(&g->lock);
	struct waiter *all = NULL;
	g->has_given_up = true;
	for (size_t i = 0; i < BUCKETS; i++)
		for (struct asking *a = g->bucket[i]; a; a = a->next)
			while (a->waiters) {
				struct waiter *w = a->waiters;
				a->waiters = w->next;
				w->next = all;
				all = w;
			}
	pthread_mutex_unlock(&g->lock);
	waiter_wake_all(all);
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
	for (size_t i = 0; i < BUCKETS; i++)
		while (g->bucket[i])
			free_asking(&g->bucket[i]);
	pthread_mutex_destroy(&g->lock);
	free(g);
}
