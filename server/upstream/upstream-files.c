// SPDX-License-Identifier: Apache-2.0
#include "server/upstream/upstream-files.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/limits.h"
#include "lib/base/log.h"
#include "lib/os/thread-pool.h"
#include "server/http/metrics.h"
#include "server/upstream/debounce.h"
#include "server/upstream/inflight-file.h"

enum {
	TRIES = 4,
	FIRST_PAUSE_MS = 250, // doubled each time
	KEEPERS = 2,          // threads that bring files onto the disk
	KEEPERS_NICE = 15,    // whoever asked has them by then
};

struct retrieve {
	struct fetch_pool *pool;
	struct depot *depot;
	struct metrics *metrics;
	struct pool *keepers;
	struct turns *turns;
	struct lull lull;
	pthread_mutex_t lock;
	struct parcel *first;
	bool has_given_up;
};

// --- fetching: the pool's thread ---

static enum fetch_flow stop(struct parcel *p, enum retrieve_state state, const char *why)
{
	p->has_stopped = true;
	parcel_end(p, state, why);
	return FETCH_STOP;
}

// RFC 9110 section 14.4: "bytes 100-199/200", and what begins where we are is what we want.
static bool goes_on_here(const struct parcel *p, struct str range)
{
	CLEANUP(mem_free) char *want = xasprintf("bytes %llu-", (unsigned long long)p->written);
	return str_starts(range, str_from(want));
}

static bool read_length(struct str text, uint64_t *out)
{
	uint64_t n = 0;
	if (!text.len || text.len > 18)
		return false;
	for (size_t i = 0; i < text.len; i++) {
		if (!ascii_is_digit(text.ptr[i]))
			return false;
		n = n * 10 + (uint64_t)(text.ptr[i] - '0');
	}
	*out = n;
	return true;
}

static enum fetch_flow begin_stream(struct parcel *p, const struct fetch_answer *answer)
{
	uint64_t length = 0;
	bool has_length = read_length(fetch_header(answer, "Content-Length"), &length);
	if (has_length && p->size >= 0 && length != (uint64_t)p->size)
		return stop(p, RETRIEVE_FAILED, "upstream sends another size than its page says");
	if (!has_length && p->size >= 0) {
		length = (uint64_t)p->size;
		has_length = true;
	}
	parcel_begin(p, length, has_length);
	return FETCH_GO_ON;
}

static enum fetch_flow on_head(void *ctx, const struct fetch_answer *answer, const char *url UNUSED)
{
	struct parcel *p = ctx;
	char why[64];
	bool goes_on = p->written && answer->status == 206 && goes_on_here(p, fetch_header(answer, "Content-Range"));
	struct str coding = fetch_header(answer, "Content-Encoding");
	if (answer->status < 300 && coding.len && !str_eq_nocase(coding, STR("identity")))
		return stop(p, RETRIEVE_FAILED, "upstream sends it packed, which it was not asked for");
	if (goes_on || answer->status == 200) {
		p->skip = goes_on ? 0 : p->written;
		return parcel_state(p) == RETRIEVE_STREAM ? FETCH_GO_ON : begin_stream(p, answer);
	}
	if (answer->status == 404 || answer->status == 410)
		return stop(p, RETRIEVE_ABSENT, "upstream has no such file any more");
	if (answer->status == 429 || answer->status >= 500)
		return FETCH_STOP; // on_done tries again
	snprintf(why, sizeof(why), "upstream answers %u", answer->status);
	return stop(p, RETRIEVE_FAILED, why);
}

static enum fetch_flow on_body(void *ctx, struct str piece)
{
	struct parcel *p = ctx;
	struct err e = ERR_INIT;
	size_t skipped = piece.len < p->skip ? piece.len : (size_t)p->skip;
	piece = str_slice(piece, skipped, piece.len);
	p->skip -= skipped;
	if (p->has_length && p->written + piece.len > p->length)
		return stop(p, RETRIEVE_FAILED, "upstream sends more than it said");
	if (arrival_write(p->arrival, piece.ptr, piece.len, &e) < 0) {
		log_error("a file of upstream is not kept: %s", e.msg);
		return stop(p, e.kind == ERR_FULL || e.kind == ERR_LIMIT ? RETRIEVE_FULL : RETRIEVE_FAILED, "it could not be written here");
	}
	metrics_add(p->all->metrics, METRIC_FETCHED_BYTES, piece.len);
	parcel_grow(p, piece.len);
	return FETCH_GO_ON;
}

static void end_turn(struct parcel *p)
{
	turns_end(p->turns, &p->turn);
	turns_run(p->turns);
}

// Its last request's end. What is not kept takes no room from then on, though it is remembered why.
static void leave(struct parcel *p)
{
	arrival_discard(p->arrival);
	end_turn(p);
	parcel_unref(p);
}

// It may go on some time: the room of what did not come is for others meanwhile.
static void rest(struct parcel *p)
{
	struct err e = ERR_INIT;
	if (arrival_reserve(p->arrival, 0, &e) < 0)
		log_debug("%s", e.msg); // less is always to be had
	end_turn(p);
	parcel_unref(p);
}

// A keeper's: the disk may take its time. Until it is kept, who wants it gets it from here; where it cannot be, it is
// fetched again some seconds later.
static void keep(void *job)
{
	struct parcel *p = job;
	struct err e = ERR_INIT;
	pool_give_way(KEEPERS_NICE);
	lull_wait(&p->all->lull);
	if (arrival_keep(p->arrival, p->found, &e) < 0)
		log_error("a file of upstream is not kept: %s", e.msg);
	lull_done(&p->all->lull, lull_weight(p->written));
	parcel_put(p);
	parcel_unref(p); // not leave(): who was told that it is whole may be reading
}

// Its hash says whether it is right: then it is whole for all who wait, and is brought onto the disk.
static void judge(struct parcel *p)
{
	struct err e = ERR_INIT;
	if (arrival_check(p->arrival, p->found, &e) == 0) {
		parcel_end(p, RETRIEVE_KEPT, "");
		lull_came(&p->all->lull, lull_weight(p->written));
		end_turn(p);
		pool_submit(p->all->keepers, keep, p);
		return;
	}
	log_error("a file of upstream is not kept: %s", e.msg);
	parcel_end(p, RETRIEVE_FAILED, "upstream's bytes do not have the hash that its page says");
	leave(p);
}

static void ask(struct parcel *p, uint64_t delay_ms);

static bool may_try_again(struct parcel *p, const struct fetch_result *result)
{
	bool is_passing = result->failure == FETCH_REFUSED || result->failure == FETCH_TIMEOUT ||
		result->failure == FETCH_TRUNCATED || result->failure == FETCH_RESOLVE ||
		(result->failure == FETCH_CANCELLED && result->answer->status);
	pthread_mutex_lock(&p->all->lock);
	bool goes_on = !p->all->has_given_up && (p->is_known || !p->written); // parts of two files have no right hash
	pthread_mutex_unlock(&p->all->lock);
	return goes_on && is_passing && ++p->tries < TRIES;
}

static void on_done(void *ctx, const struct fetch_result *result)
{
	struct parcel *p = ctx;
	bool is_whole = result->failure == FETCH_WHOLE && parcel_state(p) == RETRIEVE_STREAM, is_wanted = false;
	if (p->has_stopped) {
		leave(p);
	} else if (result->failure == FETCH_CANCELLED && parcel_pause(p, &is_wanted)) {
		rest(p);
	} else if (is_wanted) {
		ask(p, 0);
	} else if (is_whole && !(p->has_length && p->written < p->length)) {
		judge(p);
	} else if (may_try_again(p, result)) {
		ask(p, (uint64_t)FIRST_PAUSE_MS << p->tries);
	} else {
		log_warn("a file of upstream did not come: %s", *result->why ? result->why : p->filename);
		parcel_end(p, RETRIEVE_FAILED, is_whole ? "upstream sends less than it said" : fetch_failure_name[result->failure]);
		leave(p);
	}
}

static void ask(struct parcel *p, uint64_t delay_ms)
{
	CLEANUP(mem_free) char *range = xasprintf("Range: bytes=%llu-", (unsigned long long)p->written);
	const char *const headers[] = {p->written ? range : NULL, NULL};
	const struct fetch_request request = {
		.url = p->url,
		.headers = headers,
		.home = p->home,
		.delay_ms = delay_ms,
		.limit = depot_most(p->all->depot),
		.on_head = on_head,
		.on_body = on_body,
		.is_raw = true,
		.on_done = on_done,
		.ctx = p,
	};
	pthread_mutex_lock(&p->lock);
	p->is_dropped = false; // whatever became of the request before: this one can be dropped anew
	p->request = fetch_pool_get(p->all->pool, &request);
	pthread_mutex_unlock(&p->lock);
}

// --- the table ---

static bool is_wanted(const struct parcel *p, const struct retrieve_wish *w)
{
	return strcmp(p->filename, w->filename) == 0 && strcmp(p->project, w->project) == 0 && p->is_known == (w->sha256 != NULL) &&
		(!p->is_known || memcmp(p->sha256, w->sha256, SHA256_SIZE) == 0);
}

// Under the table's lock: those that are over are let go of.
static void sweep(struct retrieve *r)
{
	for (struct parcel **at = &r->first; *at;) {
		struct parcel *p = *at;
		if (parcel_is_over(p)) {
			*at = p->next;
			parcel_unref(p);
		} else {
			at = &p->next;
		}
	}
}

// The same; the one that is wanted, with a reference.
static struct parcel *find(struct retrieve *r, const struct retrieve_wish *w)
{
	sweep(r);
	for (struct parcel *p = r->first; p; p = p->next)
		if (is_wanted(p, w))
			return parcel_ref(p);
	return NULL;
}

// --- turns ---

static int reserve(struct parcel *p, uint64_t size, struct err *e)
{
	if (p->arrival)
		return arrival_reserve(p->arrival, size, e);
	p->arrival = depot_begin(p->all->depot, p->project, p->filename, p->is_known ? p->sha256 : NULL, size, e);
	return p->arrival ? 0 : -1;
}

// What may be gone on with gives its room to what is to begin.
static void forget_resting(struct retrieve *r)
{
	pthread_mutex_lock(&r->lock);
	for (struct parcel *p = r->first; p; p = p->next)
		parcel_forget(p);
	sweep(r);
	pthread_mutex_unlock(&r->lock);
}

static int prepare(struct parcel *p, struct err *e)
{
	uint64_t size = p->size >= 0 ? (uint64_t)p->size : 0;
	pthread_mutex_lock(&p->all->lock);
	bool has_given_up = p->all->has_given_up;
	pthread_mutex_unlock(&p->all->lock);
	if (has_given_up)
		return err_set(e, ERR_BUSY, "the server is stopping");
	if (reserve(p, size, e) == 0)
		return 0;
	if (e->kind != ERR_LIMIT)
		return -1;
	forget_resting(p->all);
	return reserve(p, size, e);
}

// Whoever called turns_run(), which goes on with the next.
static void on_turn(void *ctx UNUSED, struct turn *turn)
{
	struct parcel *p = (struct parcel *)(void *)((char *)turn - offsetof(struct parcel, turn));
	struct err e = ERR_INIT;
	if (prepare(p, &e) == 0) {
		ask(p, 0);
		return;
	}
	log_error("a file of upstream is not fetched: %s", e.msg);
	enum retrieve_state state = e.kind == ERR_FULL ? RETRIEVE_FULL : e.kind == ERR_LIMIT ? RETRIEVE_BUSY : RETRIEVE_FAILED;
	parcel_end(p, state, "it could not be written here");
	turns_end(p->turns, turn);
	if (p->arrival)
		arrival_discard(p->arrival);
	parcel_unref(p);
}

// --- calls ---

// NULL where the server is stopping.
static struct parcel *find_or_begin(struct retrieve *r, const struct retrieve_wish *w)
{
	pthread_mutex_lock(&r->lock);
	struct parcel *p = find(r, w);
	if (!p && !r->has_given_up) {
		p = parcel_new(w, r->turns, r->metrics);
		p->all = r;
		p->next = r->first;
		r->first = parcel_ref(p);
	}
	pthread_mutex_unlock(&r->lock);
	return p;
}

static void refuse(struct retrieve_result *out, enum retrieve_state state, const char *why)
{
	out->state = state;
	snprintf(out->why, sizeof(out->why), "%s", why);
}

void retrieve_file(struct retrieve *r, const struct retrieve_wish *wish, bool wants_whole, struct waiter *again,
	struct retrieve_result *out)
{
	*out = (struct retrieve_result){.state = RETRIEVE_LATER, .file.fd = -1};
	if (wish->size >= 0 && (uint64_t)wish->size > depot_most(r->depot)) {
		refuse(out, RETRIEVE_FULL, "it is larger than what is kept here");
		return;
	}
	struct parcel *p = find_or_begin(r, wish);
	if (!p) {
		refuse(out, RETRIEVE_FAILED, "the server is stopping");
		return;
	}
	turns_limit(r->turns, depot_most(r->depot));
	parcel_tell(p, wish->peer, wants_whole, again, out);
	if (out->state == RETRIEVE_BUSY)
		metrics_add(r->metrics, METRIC_REFUSED_FILES, 1);
	parcel_unref(p);
	turns_run(r->turns);
}

// Under the table's lock.
static void look_at(struct retrieve *r, struct parcel *p)
{
	uint64_t request = 0;
	switch (parcel_let_go(p, &request)) {
	case PARCEL_LEFT:
		parcel_unref(p); // the table has it
		break;
	case PARCEL_DROPPED:
		fetch_pool_cancel(r->pool, request);
		break;
	case PARCEL_WANTED:
	default:
		break;
	}
}

void retrieve_let_go(struct retrieve *r)
{
	pthread_mutex_lock(&r->lock);
	sweep(r);
	for (struct parcel *p = r->first; p; p = p->next)
		look_at(r, p);
	pthread_mutex_unlock(&r->lock);
}

void retrieve_count(struct retrieve *r, struct turns_counts *out)
{
	*out = (struct turns_counts){0};
	if (r)
		turns_count(r->turns, out);
}

// --- beginning, end ---

struct retrieve *retrieve_new(struct fetch_pool *pool, unsigned concurrency, struct depot *depot, struct metrics *metrics)
{
	struct retrieve *r = xcalloc(1, sizeof(*r));
	r->pool = pool;
	r->depot = depot;
	r->metrics = metrics;
	r->turns = turns_new(&(struct turns_options){
		.under_way = concurrency, .waiting = LIMIT_FILES_WAITING, .begin = on_turn, .ctx = r});
	lull_init(&r->lull, LULL_PAUSE_MS, LULL_MOST);
	r->keepers = pool_new(KEEPERS, POOL_FIRST_IN_FIRST_OUT, "keep");
	pthread_mutex_init(&r->lock, NULL);
	return r;
}

void retrieve_give_up(struct retrieve *r)
{
	if (!r)
		return;
	pthread_mutex_lock(&r->lock);
	r->has_given_up = true;
	for (struct parcel *p = r->first; p; p = p->next) {
		parcel_end(p, RETRIEVE_FAILED, "the server is stopping");
		if (turns_leave(r->turns, &p->turn))
			parcel_unref(p); // the table has it
	}
	pthread_mutex_unlock(&r->lock);
}

void retrieve_free(struct retrieve *r)
{
	if (!r)
		return;
	lull_close(&r->lull);
	pool_free(r->keepers);
	lull_destroy(&r->lull);
	for (struct parcel *p = r->first, *next; p; p = next) {
		next = p->next;
		if (turns_leave(r->turns, &p->turn))
			parcel_unref(p);
		parcel_unref(p);
	}
	turns_free(r->turns);
	pthread_mutex_destroy(&r->lock);
	free(r);
}
