// SPDX-License-Identifier: Apache-2.0
#include "server/retrieve.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "lib/base/pool.h"
#include "server/metrics.h"

enum {
	TRIES = 4,
	FIRST_PAUSE_MS = 250, // doubled each time
	REST_SECONDS = 3,     // so long a failure is remembered
	KEEPERS = 2,          // threads that bring files onto the disk
	WAKE_BYTES = 1 << 16, // who waits is woken for so much, or so seldom
	WAKE_MS = 50,
};

// A file on its way. Owned by the table while it comes, by each stream, and by the request under way.
struct parcel {
	struct stream base;
	struct parcel *next; // of the table
	struct retrieve *all;
	char *project, *filename, *url, *home;
	bool is_known; // sha256
	uint8_t sha256[SHA256_SIZE];
	int64_t size; // that upstream's page says; -1
	_Atomic unsigned owners;

	pthread_mutex_t lock;
	enum retrieve_state state; // LATER: nothing has come yet
	char why[256];
	struct waiter *readers; // for bytes: of a stream
	struct waiter *askers;  // for an answer: woken by the head and by the end, not by each piece
	uint64_t written, length; // length: once it is STREAM
	bool has_length;
	long rests_until; // of one that has ended: when it is forgotten
	bool is_put;      // KEPT: the depot has it, or could not take it

	// The pool's thread alone, and then a keeper.
	struct arrival *arrival;
	uint64_t skip, woken_at;
	int64_t woken_ms;
	unsigned tries;
	bool has_stopped; // with a state of its own
	uint8_t found[SHA256_SIZE]; // of KEPT; all threads may read it then
};

struct retrieve {
	struct fetch_pool *pool;
	struct depot *depot;
	struct metrics *metrics;
	struct pool *keepers;
	uint64_t most;
	pthread_mutex_t lock;
	struct parcel *first;
	bool has_given_up;
};

// --- parcels ---

static void parcel_unref(struct parcel *p)
{
	if (atomic_fetch_sub(&p->owners, 1) != 1)
		return;
	arrival_free(p->arrival);
	pthread_mutex_destroy(&p->lock);
	free(p->project);
	free(p->filename);
	free(p->url);
	free(p->home);
	free(p);
}

static struct parcel *parcel_ref(struct parcel *p)
{
	atomic_fetch_add(&p->owners, 1);
	return p;
}

// Takes the lock's holder's waiters along: they look again.
static void unlock_and_wake_readers(struct parcel *p)
{
	struct waiter *w = STEAL_PTR(p->readers);
	pthread_mutex_unlock(&p->lock);
	waiter_wake_all(w);
}

static void unlock_and_wake(struct parcel *p)
{
	struct waiter *askers = STEAL_PTR(p->askers);
	unlock_and_wake_readers(p);
	waiter_wake_all(askers);
}

static bool has_ended(const struct parcel *p)
{
	return p->state != RETRIEVE_LATER && p->state != RETRIEVE_STREAM;
}

static enum retrieve_state state_of(struct parcel *p)
{
	pthread_mutex_lock(&p->lock);
	enum retrieve_state state = p->state;
	pthread_mutex_unlock(&p->lock);
	return state;
}

// The first end is the one.
static void end(struct parcel *p, enum retrieve_state state, const char *why)
{
	pthread_mutex_lock(&p->lock);
	if (!has_ended(p)) {
		p->state = state;
		metrics_add(p->all->metrics, state == RETRIEVE_KEPT ? METRIC_FETCHED_FILES : METRIC_FAILED_FILES, 1);
		snprintf(p->why, sizeof(p->why), "%s", why);
		p->rests_until = clock_seconds() + REST_SECONDS;
	}
	unlock_and_wake(p);
}

// How many bytes may be sent.
static uint64_t available(const struct parcel *p)
{
	if (p->state == RETRIEVE_KEPT)
		return p->written;
	return p->written == p->length && p->length ? p->length - 1 : p->written;
}

static ssize_t parcel_read(struct stream *s, uint64_t at, char *out, size_t room)
{
	struct parcel *p = (struct parcel *)s;
	pthread_mutex_lock(&p->lock);
	uint64_t end_at = available(p);
	bool has_failed = has_ended(p) && p->state != RETRIEVE_KEPT;
	pthread_mutex_unlock(&p->lock);
	if (has_failed)
		return -1;
	size_t len = end_at > at ? (size_t)(end_at - at) : 0;
	return len ? pread(arrival_fd(p->arrival), out, len < room ? len : room, (off_t)at) : 0;
}

static void parcel_await(struct stream *s, uint64_t at, struct waiter *w)
{
	struct parcel *p = (struct parcel *)s;
	pthread_mutex_lock(&p->lock);
	bool is_ready = has_ended(p) || available(p) > at;
	if (!is_ready) {
		w->next = p->readers;
		p->readers = w;
	}
	pthread_mutex_unlock(&p->lock);
	if (is_ready)
		w->wake(w);
}

static void parcel_drop(struct stream *s)
{
	parcel_unref((struct parcel *)s);
}

static const struct stream_ops parcel_ops = {parcel_read, parcel_await, parcel_drop};

// --- fetching: the pool's thread ---

static enum fetch_flow stop(struct parcel *p, enum retrieve_state state, const char *why)
{
	p->has_stopped = true;
	end(p, state, why);
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
	pthread_mutex_lock(&p->lock);
	p->length = length;
	p->has_length = has_length;
	if (!has_ended(p))
		p->state = RETRIEVE_STREAM;
	unlock_and_wake(p);
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
		return state_of(p) == RETRIEVE_STREAM ? FETCH_GO_ON : begin_stream(p, answer);
	}
	if (answer->status == 404 || answer->status == 410)
		return stop(p, RETRIEVE_ABSENT, "upstream has no such file any more");
	if (answer->status == 429 || answer->status >= 500)
		return FETCH_STOP; // on_done tries again
	snprintf(why, sizeof(why), "upstream answers %u", answer->status);
	return stop(p, RETRIEVE_FAILED, why);
}

static bool is_time_to_wake(struct parcel *p)
{
	int64_t now = clock_ms();
	if (p->written - p->woken_at < WAKE_BYTES && now - p->woken_ms < WAKE_MS)
		return false;
	p->woken_at = p->written;
	p->woken_ms = now;
	return true;
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
	pthread_mutex_lock(&p->lock);
	p->written += piece.len;
	metrics_add(p->all->metrics, METRIC_FETCHED_BYTES, piece.len);
	if (is_time_to_wake(p))
		unlock_and_wake_readers(p);
	else
		pthread_mutex_unlock(&p->lock);
	return FETCH_GO_ON;
}

// Its last request's end. What is not kept takes no room from then on, though it is remembered why.
static void leave(struct parcel *p)
{
	arrival_discard(p->arrival);
	parcel_unref(p);
}

// A keeper's: the disk may take its time. Until it is kept, who wants it gets it from here; where it is not, it is
// fetched again for the next one.
static void keep(void *job)
{
	struct parcel *p = job;
	struct err e = ERR_INIT;
	if (arrival_keep(p->arrival, p->found, &e) < 0)
		log_error("a file of upstream is not kept: %s", e.msg);
	pthread_mutex_lock(&p->lock);
	p->is_put = true;
	pthread_mutex_unlock(&p->lock);
	leave(p);
}

// Its hash says whether it is right: then it is whole for all who wait, and is brought onto the disk.
static void judge(struct parcel *p)
{
	struct err e = ERR_INIT;
	if (arrival_check(p->arrival, p->found, &e) == 0) {
		end(p, RETRIEVE_KEPT, "");
		pool_submit(p->all->keepers, keep, p);
		return;
	}
	log_error("a file of upstream is not kept: %s", e.msg);
	end(p, RETRIEVE_FAILED, "upstream's bytes do not have the hash that its page says");
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
	bool is_whole = result->failure == FETCH_WHOLE && state_of(p) == RETRIEVE_STREAM;
	if (p->has_stopped) {
		leave(p);
	} else if (is_whole && !(p->has_length && p->written < p->length)) {
		judge(p);
	} else if (may_try_again(p, result)) {
		ask(p, (uint64_t)FIRST_PAUSE_MS << p->tries);
	} else {
		log_warn("a file of upstream did not come: %s", *result->why ? result->why : p->filename);
		end(p, RETRIEVE_FAILED, is_whole ? "upstream sends less than it said" : fetch_failure_name[result->failure]);
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
		.limit = p->all->most,
		.on_head = on_head,
		.on_body = on_body,
		.is_raw = true,
		.on_done = on_done,
		.ctx = p,
	};
	fetch_pool_get(p->all->pool, &request);
}

// --- the table ---

static bool is_wanted(const struct parcel *p, const struct retrieve_wish *w)
{
	return strcmp(p->filename, w->filename) == 0 && strcmp(p->project, w->project) == 0 && p->is_known == (w->sha256 != NULL) &&
		(!p->is_known || memcmp(p->sha256, w->sha256, SHA256_SIZE) == 0);
}

static bool is_over(struct parcel *p)
{
	pthread_mutex_lock(&p->lock);
	bool over = (p->state == RETRIEVE_KEPT && p->is_put) || (has_ended(p) && clock_seconds() >= p->rests_until);
	pthread_mutex_unlock(&p->lock);
	return over;
}

// Under the table's lock: the one that is wanted, with a reference; those that are over are let go of.
static struct parcel *find(struct retrieve *r, const struct retrieve_wish *w)
{
	struct parcel *found = NULL;
	for (struct parcel **at = &r->first; *at;) {
		struct parcel *p = *at;
		if (is_over(p)) {
			*at = p->next;
			parcel_unref(p);
			continue;
		}
		if (!found && is_wanted(p, w))
			found = parcel_ref(p);
		at = &p->next;
	}
	return found;
}

static struct parcel *parcel_new(struct retrieve *r, const struct retrieve_wish *w, struct err *e)
{
	struct arrival *arrival = depot_begin(r->depot, w->project, w->filename, w->sha256, e);
	if (!arrival)
		return NULL;
	struct parcel *p = xcalloc(1, sizeof(*p));
	p->base.ops = &parcel_ops;
	p->all = r;
	p->arrival = arrival;
	p->project = xstrdup(w->project);
	p->filename = xstrdup(w->filename);
	p->url = xstrdup(w->url);
	p->home = xstrdup(w->home);
	p->size = w->size;
	p->is_known = w->sha256 != NULL;
	if (w->sha256)
		memcpy(p->sha256, w->sha256, SHA256_SIZE);
	atomic_init(&p->owners, 1);
	pthread_mutex_init(&p->lock, NULL);
	return p;
}

static struct parcel *find_or_begin(struct retrieve *r, const struct retrieve_wish *w, struct retrieve_result *out)
{
	struct err e = ERR_INIT;
	bool is_new = false;
	pthread_mutex_lock(&r->lock);
	struct parcel *p = find(r, w);
	if (!p && r->has_given_up) {
		err_set(&e, ERR_BUSY, "the server is stopping");
	} else if (!p && (p = parcel_new(r, w, &e))) {
		p->next = r->first;
		r->first = parcel_ref(p);
		is_new = true;
	}
	pthread_mutex_unlock(&r->lock);
	if (is_new)
		ask(parcel_ref(p), 0);
	if (!p) {
		out->state = e.kind == ERR_FULL ? RETRIEVE_FULL : RETRIEVE_FAILED;
		snprintf(out->why, sizeof(out->why), "it could not be written here");
		log_error("a file of upstream is not fetched: %s", e.msg);
	}
	return p;
}

// Under the lock: of one that is whole, what the depot would say of it.
static void take_file(const struct parcel *p, struct depot_file *out)
{
	if (p->state != RETRIEVE_KEPT)
		return;
	out->fd = fcntl(arrival_fd(p->arrival), F_DUPFD_CLOEXEC, 0);
	out->size = p->written;
	memcpy(out->sha256, p->found, SHA256_SIZE);
}

void retrieve_file(struct retrieve *r, const struct retrieve_wish *wish, bool wants_whole, struct waiter *again,
	struct retrieve_result *out)
{
	*out = (struct retrieve_result){.state = RETRIEVE_LATER, .file.fd = -1};
	if (wish->size >= 0 && (uint64_t)wish->size > r->most) {
		out->state = RETRIEVE_FULL;
		snprintf(out->why, sizeof(out->why), "it is larger than what is kept here");
		return;
	}
	struct parcel *p = find_or_begin(r, wish, out);
	if (!p)
		return;
	pthread_mutex_lock(&p->lock);
	// Of an empty one no byte can be held back.
	bool may_stream = p->state == RETRIEVE_STREAM && p->has_length && p->length && !wants_whole;
	if (may_stream || has_ended(p)) {
		out->state = p->state;
		out->length = p->length;
		out->stream = may_stream ? &parcel_ref(p)->base : NULL;
		take_file(p, &out->file);
		snprintf(out->why, sizeof(out->why), "%s", p->why);
	} else {
		again->next = p->askers;
		p->askers = again;
	}
	pthread_mutex_unlock(&p->lock);
	parcel_unref(p);
}

// --- beginning, end ---

struct retrieve *retrieve_new(struct fetch_pool *pool, struct depot *depot, struct metrics *metrics, uint64_t most)
{
	struct retrieve *r = xcalloc(1, sizeof(*r));
	r->pool = pool;
	r->depot = depot;
	r->metrics = metrics;
	r->most = most;
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
	for (struct parcel *p = r->first; p; p = p->next)
		end(p, RETRIEVE_FAILED, "the server is stopping");
	pthread_mutex_unlock(&r->lock);
}

void retrieve_free(struct retrieve *r)
{
	if (!r)
		return;
	pool_free(r->keepers);
	for (struct parcel *p = r->first, *next; p; p = next) {
		next = p->next;
		parcel_unref(p);
	}
	pthread_mutex_destroy(&r->lock);
	free(r);
}
