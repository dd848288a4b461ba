// SPDX-License-Identifier: Apache-2.0
#include "server/upstream/upstream-files.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/decimal.h"
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

struct upstream_files {
	struct fetch_pool *pool;
	struct file_cache *file_cache;
	struct metrics *metrics;
	struct thread_pool *keepers;
	struct fair_queue *turns;
	struct debounce debounce;
	pthread_mutex_t lock;
	struct inflight_file *first;
	bool has_given_up;
};

// --- fetching: the pool's thread ---

static enum fetch_flow stop(struct inflight_file *p, enum file_fetch_state state, const char *why)
{
	p->has_stopped = true;
	inflight_file_end(p, state, why);
	return FETCH_STOP;
}

// RFC 9110 section 14.4: "bytes 100-199/200", and what begins where we are is what we want.
static bool goes_on_here(const struct inflight_file *p, struct str range)
{
	CLEANUP(mem_free) char *want = xasprintf("bytes %llu-", (unsigned long long)p->written);
	return str_starts(range, str_from(want));
}

static enum fetch_flow begin_stream(struct inflight_file *p, const struct fetch_answer *answer)
{
	uint64_t length = 0;
	bool has_length = decimal_parse(fetch_header(answer, "Content-Length"), INT64_MAX, &length);
	if (has_length && p->size >= 0 && length != (uint64_t)p->size)
		return stop(p, FILE_FETCH_FAILED, "upstream sends another size than its page says");
	if (!has_length && p->size >= 0) {
		length = (uint64_t)p->size;
		has_length = true;
	}
	inflight_file_begin(p, length, has_length);
	return FETCH_GO_ON;
}

static enum fetch_flow on_head(void *ctx, const struct fetch_answer *answer, const char *url UNUSED)
{
	struct inflight_file *p = ctx;
	char why[64];
	bool goes_on = p->written && answer->status == 206 && goes_on_here(p, fetch_header(answer, "Content-Range"));
	struct str coding = fetch_header(answer, "Content-Encoding");
	if (answer->status < 300 && coding.len && !str_eq_nocase(coding, STR("identity")))
		return stop(p, FILE_FETCH_FAILED, "upstream sends it packed, which it was not asked for");
	if (goes_on || answer->status == 200) {
		p->skip = goes_on ? 0 : p->written;
		return inflight_file_state(p) == FILE_FETCH_STREAM ? FETCH_GO_ON : begin_stream(p, answer);
	}
	if (answer->status == 404 || answer->status == 410)
		return stop(p, FILE_FETCH_ABSENT, "upstream has no such file any more");
	if (answer->status == 429 || answer->status >= 500)
		return FETCH_STOP; // on_done tries again
	snprintf(why, sizeof(why), "upstream answers %u", answer->status);
	return stop(p, FILE_FETCH_FAILED, why);
}

static enum fetch_flow on_body(void *ctx, struct str piece)
{
	struct inflight_file *p = ctx;
	struct err e = ERR_INIT;
	size_t skipped = piece.len < p->skip ? piece.len : (size_t)p->skip;
	piece = str_slice(piece, skipped, piece.len);
	p->skip -= skipped;
	if (p->has_length && p->written + piece.len > p->length)
		return stop(p, FILE_FETCH_FAILED, "upstream sends more than it said");
	if (file_cache_writer_write(p->file_cache_writer, piece.ptr, piece.len, &e) < 0) {
		log_error("a file of upstream is not kept: %s", e.msg);
		return stop(p, e.kind == ERR_FULL || e.kind == ERR_LIMIT ? FILE_FETCH_FULL : FILE_FETCH_FAILED,
			"it could not be written here");
	}
	metrics_add(p->all->metrics, METRIC_FETCHED_BYTES, piece.len);
	inflight_file_grow(p, piece.len);
	return FETCH_GO_ON;
}

static void end_turn(struct inflight_file *p)
{
	fair_queue_end(p->turns, &p->turn);
	fair_queue_run(p->turns);
}

// Its last request's end. What is not kept takes no room from then on, though it is remembered why.
static void leave(struct inflight_file *p)
{
	file_cache_writer_discard(p->file_cache_writer);
	end_turn(p);
	inflight_file_unref(p);
}

// It may go on some time: the room of what did not come is for others meanwhile.
static void rest(struct inflight_file *p)
{
	struct err e = ERR_INIT;
	if (file_cache_writer_reserve(p->file_cache_writer, 0, &e) < 0)
		log_debug("%s", e.msg); // less is always to be had
	end_turn(p);
	inflight_file_unref(p);
}

// A keeper's: the disk may take its time. Until it is kept, who wants it gets it from here; where it cannot be, it is
// fetched again some seconds later.
static void keep(void *job)
{
	struct inflight_file *p = job;
	struct err e = ERR_INIT;
	thread_pool_set_nice(KEEPERS_NICE);
	debounce_wait(&p->all->debounce);
	if (file_cache_writer_keep(p->file_cache_writer, p->found, &e) < 0)
		log_error("a file of upstream is not kept: %s", e.msg);
	debounce_done(&p->all->debounce, debounce_weight(p->written));
	inflight_file_put(p);
	inflight_file_unref(p); // not leave(): who was told that it is whole may be reading
}

// Its hash says whether it is right: then it is whole for all who wait, and is brought onto the disk.
static void judge(struct inflight_file *p)
{
	struct err e = ERR_INIT;
	if (file_cache_writer_check(p->file_cache_writer, p->found, &e) == 0) {
		inflight_file_end(p, FILE_FETCH_KEPT, "");
		debounce_came(&p->all->debounce, debounce_weight(p->written));
		end_turn(p);
		thread_pool_submit(p->all->keepers, keep, p);
		return;
	}
	log_error("a file of upstream is not kept: %s", e.msg);
	inflight_file_end(p, FILE_FETCH_FAILED, "upstream's bytes do not have the hash that its page says");
	leave(p);
}

static void ask(struct inflight_file *p, uint64_t delay_ms);

static bool may_try_again(struct inflight_file *p, const struct fetch_result *result)
{
	bool is_passing = result->failure == FETCH_REFUSED || result->failure == FETCH_TIMEOUT ||
			  result->failure == FETCH_TRUNCATED || result->failure == FETCH_RESOLVE ||
			  (result->failure == FETCH_CANCELLED && result->answer->status);
	pthread_mutex_lock(&p->all->lock);
	bool goes_on = !p->all->has_given_up && (p->is_known || !p->written); // parts of two files have no right hash
	pthread_mutex_unlock(&p->all->lock);
	return goes_on && is_passing && ++p->rate_limit < TRIES;
}

static void on_done(void *ctx, const struct fetch_result *result)
{
	struct inflight_file *p = ctx;
	bool is_whole = result->failure == FETCH_WHOLE && inflight_file_state(p) == FILE_FETCH_STREAM,
	     is_wanted = false;
	if (p->has_stopped) {
		leave(p);
	} else if (result->failure == FETCH_CANCELLED && inflight_file_pause(p, &is_wanted)) {
		rest(p);
	} else if (is_wanted) {
		ask(p, 0);
	} else if (is_whole && !(p->has_length && p->written < p->length)) {
		judge(p);
	} else if (may_try_again(p, result)) {
		ask(p, (uint64_t)FIRST_PAUSE_MS << p->rate_limit);
	} else {
		log_warn("a file of upstream did not come: %s", *result->why ? result->why : p->filename);
		inflight_file_end(p, FILE_FETCH_FAILED,
			is_whole ? "upstream sends less than it said" : fetch_failure_name[result->failure]);
		leave(p);
	}
}

static void ask(struct inflight_file *p, uint64_t delay_ms)
{
	CLEANUP(mem_free) char *range = xasprintf("Range: bytes=%llu-", (unsigned long long)p->written);
	const char *const headers[] = {p->written ? range : NULL, NULL};
	const struct fetch_request request = {
		.url = p->url,
		.headers = headers,
		.configured_url = p->home,
		.delay_ms = delay_ms,
		.limit = file_cache_most(p->all->file_cache),
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

static bool is_wanted(const struct inflight_file *p, const struct file_request *w)
{
	return strcmp(p->filename, w->filename) == 0 && strcmp(p->project, w->project) == 0 &&
	       p->is_known == (w->sha256 != NULL) && (!p->is_known || memcmp(p->sha256, w->sha256, SHA256_SIZE) == 0);
}

// Under the table's lock: those that are over are let go of.
static void sweep(struct upstream_files *r)
{
	for (struct inflight_file **at = &r->first; *at;) {
		struct inflight_file *p = *at;
		if (inflight_file_is_over(p)) {
			*at = p->next;
			inflight_file_unref(p);
		} else {
			at = &p->next;
		}
	}
}

// The same; the one that is wanted, with a reference.
static struct inflight_file *find(struct upstream_files *r, const struct file_request *w)
{
	sweep(r);
	for (struct inflight_file *p = r->first; p; p = p->next)
		if (is_wanted(p, w))
			return inflight_file_ref(p);
	return NULL;
}

// --- turns ---

static int reserve(struct inflight_file *p, uint64_t size, struct err *e)
{
	if (p->file_cache_writer)
		return file_cache_writer_reserve(p->file_cache_writer, size, e);
	p->file_cache_writer =
		file_cache_begin(p->all->file_cache, p->project, p->filename, p->is_known ? p->sha256 : NULL, size, e);
	return p->file_cache_writer ? 0 : -1;
}

// What may be gone on with gives its room to what is to begin.
static void forget_resting(struct upstream_files *r)
{
	pthread_mutex_lock(&r->lock);
	for (struct inflight_file *p = r->first; p; p = p->next)
		inflight_file_forget(p);
	sweep(r);
	pthread_mutex_unlock(&r->lock);
}

static int prepare(struct inflight_file *p, struct err *e)
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

// Whoever called fair_queue_run(), which goes on with the next.
static void on_turn(void *ctx UNUSED, struct fair_queue_entry *turn)
{
	struct inflight_file *p = (struct inflight_file *)(void *)((char *)turn - offsetof(struct inflight_file, turn));
	struct err e = ERR_INIT;
	if (prepare(p, &e) == 0) {
		ask(p, 0);
		return;
	}
	log_error("a file of upstream is not fetched: %s", e.msg);
	enum file_fetch_state state = e.kind == ERR_FULL    ? FILE_FETCH_FULL
				      : e.kind == ERR_LIMIT ? RETRIEVE_BUSY
							    : FILE_FETCH_FAILED;
	inflight_file_end(p, state, "it could not be written here");
	fair_queue_end(p->turns, turn);
	if (p->file_cache_writer)
		file_cache_writer_discard(p->file_cache_writer);
	inflight_file_unref(p);
}

// --- calls ---

// NULL where the server is stopping.
static struct inflight_file *find_or_begin(struct upstream_files *r, const struct file_request *w)
{
	pthread_mutex_lock(&r->lock);
	struct inflight_file *p = find(r, w);
	if (!p && !r->has_given_up) {
		p = inflight_file_new(w, r->turns, r->metrics);
		p->all = r;
		p->next = r->first;
		r->first = inflight_file_ref(p);
	}
	pthread_mutex_unlock(&r->lock);
	return p;
}

static void refuse(struct file_fetch_result *out, enum file_fetch_state state, const char *why)
{
	out->state = state;
	snprintf(out->why, sizeof(out->why), "%s", why);
}

void upstream_files_file(struct upstream_files *r, const struct file_request *wish, bool wants_whole,
	struct continuation *continuation, struct file_fetch_result *out)
{
	*out = (struct file_fetch_result){.state = FILE_FETCH_LATER, .file.fd = -1};
	if (wish->size >= 0 && (uint64_t)wish->size > file_cache_most(r->file_cache)) {
		refuse(out, FILE_FETCH_FULL, "it is larger than what is kept here");
		return;
	}
	struct inflight_file *p = find_or_begin(r, wish);
	if (!p) {
		refuse(out, FILE_FETCH_FAILED, "the server is stopping");
		return;
	}
	fair_queue_limit(r->turns, file_cache_most(r->file_cache));
	inflight_file_tell(p, wish->peer, wants_whole, continuation, out);
	if (out->state == RETRIEVE_BUSY)
		metrics_add(r->metrics, METRIC_REFUSED_FILES, 1);
	inflight_file_unref(p);
	fair_queue_run(r->turns);
}

// Under the table's lock.
static void look_at(struct upstream_files *r, struct inflight_file *p)
{
	uint64_t request = 0;
	switch (inflight_file_let_go(p, &request)) {
	case INFLIGHT_FILE_LEFT:
		inflight_file_unref(p); // the table has it
		break;
	case INFLIGHT_FILE_DROPPED:
		fetch_pool_cancel(r->pool, request);
		break;
	case INFLIGHT_FILE_WANTED:
	default:
		break;
	}
}

void upstream_files_let_go(struct upstream_files *r)
{
	pthread_mutex_lock(&r->lock);
	sweep(r);
	for (struct inflight_file *p = r->first; p; p = p->next)
		look_at(r, p);
	pthread_mutex_unlock(&r->lock);
}

void upstream_files_count(struct upstream_files *r, struct fair_queue_counts *out)
{
	*out = (struct fair_queue_counts){0};
	if (r)
		fair_queue_count(r->turns, out);
}

// --- beginning, end ---

struct upstream_files *upstream_files_new(struct fetch_pool *pool, unsigned concurrency, struct file_cache *file_cache,
	struct metrics *metrics)
{
	struct upstream_files *r = xcalloc(1, sizeof(*r));
	r->pool = pool;
	r->file_cache = file_cache;
	r->metrics = metrics;
	r->turns = fair_queue_new(&(struct fair_queue_options){
		.under_way = concurrency, .waiting = LIMIT_FILES_WAITING, .begin = on_turn, .ctx = r});
	debounce_init(&r->debounce, DEBOUNCE_PAUSE_MS, DEBOUNCE_MOST);
	r->keepers = thread_pool_new(KEEPERS, THREAD_POOL_FIRST_IN_FIRST_OUT, "keep");
	pthread_mutex_init(&r->lock, NULL);
	return r;
}

void upstream_files_cancel(struct upstream_files *r)
{
	if (!r)
		return;
	pthread_mutex_lock(&r->lock);
	r->has_given_up = true;
	for (struct inflight_file *p = r->first; p; p = p->next) {
		inflight_file_end(p, FILE_FETCH_FAILED, "the server is stopping");
		if (fair_queue_leave(r->turns, &p->turn))
			inflight_file_unref(p); // the table has it
	}
	pthread_mutex_unlock(&r->lock);
}

void upstream_files_free(struct upstream_files *r)
{
	if (!r)
		return;
	debounce_close(&r->debounce);
	thread_pool_free(r->keepers);
	debounce_destroy(&r->debounce);
	for (struct inflight_file *p = r->first, *next; p; p = next) {
		next = p->next;
		if (fair_queue_leave(r->turns, &p->turn))
			inflight_file_unref(p);
		inflight_file_unref(p);
	}
	fair_queue_free(r->turns);
	pthread_mutex_destroy(&r->lock);
	free(r);
}
