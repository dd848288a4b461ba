// SPDX-License-Identifier: Apache-2.0
#include "server/gateway.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "server/metrics.h"

enum {
	BUCKETS = 1024,
	FRESH_SLOTS = 1 << 16,
	REST_SECONDS = 5,    // so long what was asked is not asked again, whatever came of it
	MEANWHILE_SECONDS = 1, // so long what is old is sent without another look, while it is asked for again
	SWEEP_EVERY = 1000,  // answers
	MAX_AGE = 600,       // where upstream does not say
};

// A project that is being asked for, or was a moment ago.
struct asking {
	struct asking *next; // of its bucket
	char *project;
	struct waiter *waiters;
	int64_t began_ms;
	long rests_until; // seconds of the monotonic clock; 0: it is being asked for
};

// What came back, on its way to the thread that takes it in.
struct arrived {
	struct upstream_project **project;
	size_t count, room;
};

struct gateway {
	struct upstream *upstream;
	struct readers *readers;
	struct metrics *metrics;
	upstream_fn *learn;
	void *ctx; // its
	int64_t max_age, negative_max_age, stale;
	bool is_offline;
	pthread_mutex_t lock;
	pthread_cond_t came;
	struct asking *bucket[BUCKETS];
	struct arrived arrived;
	unsigned asked; // and not arrived
	bool has_given_up, stop;
	pthread_t thread;
	bool has_thread;
	size_t kept; // of the thread: answers, since names that nobody has were forgotten
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

static struct asking **find(struct gateway *g, const char *project)
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
		if ((*at)->rests_until && (*at)->rests_until <= clock_seconds())
			free_asking(at);
		else
			at = &(*at)->next;
	}
}

static bool may_ask(struct gateway *g, const char *project)
{
	pthread_mutex_lock(&g->lock);
	tidy(g, project);
	struct asking *a = *find(g, project);
	bool may = !g->is_offline && !g->has_given_up && (!a || !a->rests_until);
	pthread_mutex_unlock(&g->lock);
	return may;
}

// The waiter may have been woken, and all that it belongs to be gone, when this returns. True: the caller is the one who
// is to ask.
static bool join(struct gateway *g, const char *project, struct waiter *again)
{
	pthread_mutex_lock(&g->lock);
	struct asking **at = find(g, project);
	bool is_first = !*at && !g->has_given_up;
	if (is_first) {
		*at = xcalloc(1, sizeof(**at));
		(*at)->project = xstrdup(project);
		(*at)->began_ms = clock_ms();
		g->asked++;
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

static void rest(struct gateway *g, const char *project, enum upstream_result result, bool is_unchanged)
{
	pthread_mutex_lock(&g->lock);
	struct asking *a = *find(g, project);
	struct waiter *waiters = a ? a->waiters : NULL;
	if (a)
		metrics_upstream(g->metrics, result, is_unchanged, clock_ms() - a->began_ms);
	if (a) {
		a->waiters = NULL;
		a->rests_until = clock_seconds() + REST_SECONDS;
	}
	pthread_mutex_unlock(&g->lock);
	waiter_wake_all(waiters);
}

// --- asking ---

// The pool's thread: parsing is for another one.
static void on_answer(void *ctx, struct upstream_project *p)
{
	struct gateway *g = ctx;
	pthread_mutex_lock(&g->lock);
	GROW(g->arrived.project, g->arrived.count, g->arrived.room);
	g->arrived.project[g->arrived.count++] = p;
	g->asked--;
	pthread_cond_signal(&g->came);
	pthread_mutex_unlock(&g->lock);
}

struct lesson {
	struct gateway *gateway;
	char *project;
	enum upstream_result result;
	bool is_unchanged;
};

static int learn(void *ctx, const struct upstream_answer *answer, struct err *e)
{
	struct lesson *l = ctx;
	l->project = xstrdup(answer->project);
	l->result = answer->result;
	l->is_unchanged = answer->result == UPSTREAM_KNOWN && answer->is_unchanged;
	return l->gateway->learn(l->gateway->ctx, answer, e);
}

static void keep(struct gateway *g, const struct arrived *a)
{
	struct err e = ERR_INIT;
	struct reader reader;
	for (size_t i = 0; i < a->count; i++)
		upstream_settle(g->upstream, a->project[i]);
	int kept = readers_take(g->readers, &reader, &e);
	if (kept == 0)
		kept = upstream_keep(g->upstream, reader.catalog, a->project, a->count, &e);
	g->kept += a->count;
	if (kept == 0 && g->kept >= SWEEP_EVERY) {
		g->kept = 0;
		kept = upstream_forget(reader.catalog, &e);
	}
	readers_give(g->readers, &reader);
	if (kept < 0)
		log_error("what upstream has is not kept: %s", e.msg);
}

// Takes in what came, all that is there at once: it is one transaction.
static void take_in(struct gateway *g, struct arrived *a)
{
	struct err e = ERR_INIT;
	keep(g, a);
	for (size_t i = 0; i < a->count; i++) {
		struct lesson l = {.gateway = g};
		if (upstream_tell(g->upstream, a->project[i], learn, &l, &e) < 0)
			log_error("what upstream has: %s", e.msg);
		upstream_project_free(a->project[i]);
		if (l.project)
			rest(g, l.project, l.result, l.is_unchanged);
		free(l.project);
	}
	free(a->project);
}

static void *run(void *ctx)
{
	struct gateway *g = ctx;
	pthread_mutex_lock(&g->lock);
	while (!g->stop || g->asked || g->arrived.count) {
		if (!g->arrived.count) {
			pthread_cond_wait(&g->came, &g->lock);
			continue;
		}
		struct arrived a = g->arrived;
		g->arrived = (struct arrived){0};
		pthread_mutex_unlock(&g->lock);
		take_in(g, &a);
		pthread_mutex_lock(&g->lock);
	}
	pthread_mutex_unlock(&g->lock);
	return NULL;
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

// Whosever the name is: that is for those to judge who are told.
static int recall(struct gateway *g, struct catalog *c, const char *project, upstream_fn *fn, void *ctx, struct err *e)
{
	struct upstream_project *p = NULL;
	if (upstream_load(g->upstream, c, project, &p, e) < 0)
		return -1;
	int told = upstream_tell(g->upstream, p, fn, ctx, e);
	upstream_project_free(p);
	return told;
}

// The last that is done here: with again gone, nothing of the request is ours any more.
static int ask(struct gateway *g, struct catalog *c, const char *project, struct waiter *again, struct err *e)
{
	struct upstream_project *p = NULL;
	if (upstream_load(g->upstream, c, project, &p, e) < 0)
		return -1;
	if (join(g, project, again))
		upstream_ask(g->upstream, p, on_answer, g);
	else
		upstream_project_free(p);
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

int gateway_start(const struct config *c, struct readers *readers, struct metrics *metrics, upstream_fn *learn_fn, void *ctx,
	struct gateway **out, struct err *e)
{
	struct gateway *g = xcalloc(1, sizeof(*g));
	g->metrics = metrics;
	g->readers = readers;
	g->learn = learn_fn;
	g->ctx = ctx;
	g->max_age = (int64_t)c->upstream_max_age;
	g->negative_max_age = (int64_t)c->upstream_negative_max_age;
	g->stale = (int64_t)c->upstream_stale;
	g->is_offline = c->upstream_offline;
	pthread_mutex_init(&g->lock, NULL);
	pthread_cond_init(&g->came, NULL);
	if (upstream_new(c, &g->upstream, e) < 0) {
		gateway_free(g);
		return -1;
	}
	fetch_pool_start(upstream_pool(g->upstream));
	if (pthread_create(&g->thread, NULL, run, g) != 0)
		abort();
	g->has_thread = true;
	*out = g;
	return 0;
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

// What is asked is answered first: cancelled. The thread takes that in, and ends.
void gateway_free(struct gateway *g)
{
	if (!g)
		return;
	gateway_give_up(g);
	struct upstream *u = g->upstream;
	if (u)
		fetch_pool_cancel(upstream_pool(u), 0);
	pthread_mutex_lock(&g->lock);
	g->stop = true;
	pthread_cond_signal(&g->came);
	pthread_mutex_unlock(&g->lock);
	if (g->has_thread)
		pthread_join(g->thread, NULL);
	upstream_free(u);
	for (size_t i = 0; i < BUCKETS; i++)
		while (g->bucket[i])
			free_asking(&g->bucket[i]);
	pthread_mutex_destroy(&g->lock);
	pthread_cond_destroy(&g->came);
	free(g);
}

struct fetch_pool *gateway_pool(struct gateway *g)
{
	return upstream_pool(g->upstream);
}
