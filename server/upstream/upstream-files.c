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
	FIRST_PAUSE_MS = 250, // before the second try; doubled for each further one
	SAVERS = 2,           // threads that save whole files to the cache
	SAVERS_NICE = 15,     // no client waits for them
};

struct upstream_files {
	struct fetch_pool *pool;
	struct file_cache *file_cache;
	struct metrics *metrics;
	struct thread_pool *save_pool;
	struct fair_queue *queue;
	struct debounce debounce;
	pthread_mutex_t lock;
	struct inflight_file *first;
	bool is_cancelled;
};

// --- downloading: on the fetch pool's thread ---

static enum fetch_flow stop_fetch(struct inflight_file *p, enum file_fetch_state state, const char *why)
{
	p->has_stopped = true;
	inflight_file_end(p, state, why);
	return FETCH_STOP;
}

// Whether the range begins at the next byte. RFC 9110 section 14.4: "bytes 100-199/200".
static bool continues_here(const struct inflight_file *p, struct str range)
{
	CLEANUP(mem_free) char *want = xasprintf("bytes %llu-", (unsigned long long)p->written);
	return str_starts(range, str_from(want));
}

static enum fetch_flow begin_stream(struct inflight_file *p, const struct fetch_answer *answer)
{
	uint64_t length = 0;
	bool has_length = decimal_parse(fetch_header(answer, "Content-Length"), INT64_MAX, &length);
	if (has_length && p->size >= 0 && length != (uint64_t)p->size)
		return stop_fetch(p, FILE_FETCH_FAILED, "upstream sends another size than its page says");
	if (!has_length && p->size >= 0) {
		length = (uint64_t)p->size;
		has_length = true;
	}
	inflight_file_begin_stream(p, length, has_length);
	return FETCH_GO_ON;
}

static enum fetch_flow on_head(void *ctx, const struct fetch_answer *answer, const char *url UNUSED)
{
	struct inflight_file *p = ctx;
	char why[64];
	bool may_continue =
		p->written && answer->status == 206 && continues_here(p, fetch_header(answer, "Content-Range"));
	struct str coding = fetch_header(answer, "Content-Encoding");
	if (answer->status < 300 && coding.len && !str_eq_nocase(coding, STR("identity")))
		return stop_fetch(p, FILE_FETCH_FAILED, "upstream sends it packed, which it was not asked for");
	if (may_continue || answer->status == 200) {
		p->skip = may_continue ? 0 : p->written;
		return inflight_file_state(p) == FILE_FETCH_STREAM ? FETCH_GO_ON : begin_stream(p, answer);
	}
	if (answer->status == 404 || answer->status == 410)
		return stop_fetch(p, FILE_FETCH_ABSENT, "upstream has no such file any more");
	if (answer->status == 429 || answer->status >= 500)
		return FETCH_STOP; // on_done tries again
	snprintf(why, sizeof(why), "upstream answers %u", answer->status);
	return stop_fetch(p, FILE_FETCH_FAILED, why);
}

static enum fetch_flow on_body(void *ctx, struct str piece)
{
	struct inflight_file *p = ctx;
	struct err e = ERR_INIT;
	size_t skipped = piece.len < p->skip ? piece.len : (size_t)p->skip;
	piece = str_slice(piece, skipped, piece.len);
	p->skip -= skipped;
	if (p->has_length && p->written + piece.len > p->length)
		return stop_fetch(p, FILE_FETCH_FAILED, "upstream sends more than it said");
	if (file_cache_writer_write(p->file_cache_writer, piece.ptr, piece.len, &e) < 0) {
		log_error("a file of upstream is not cached: %s", e.msg);
		return stop_fetch(p, e.kind == ERR_FULL || e.kind == ERR_LIMIT ? FILE_FETCH_FULL : FILE_FETCH_FAILED,
			"it could not be written here");
	}
	metrics_add(p->owner->metrics, METRIC_FETCHED_BYTES, piece.len);
	inflight_file_grow(p, piece.len);
	return FETCH_GO_ON;
}

static void release_turn(struct inflight_file *p)
{
	fair_queue_end(p->queue, &p->queue_entry);
	fair_queue_run(p->queue);
}

// The last request has ended without a whole file. The bytes are discarded; the result is kept for a while.
static void end_request(struct inflight_file *p)
{
	file_cache_writer_discard(p->file_cache_writer);
	release_turn(p);
	inflight_file_unref(p);
}

// On a thread of save_pool. Until the cache has the file, clients get it from here. If the cache cannot take it, the
// file is downloaded again some seconds later.
static void save_file(void *job)
{
	struct inflight_file *p = job;
	struct err e = ERR_INIT;
	thread_pool_set_nice(SAVERS_NICE);
	debounce_wait(&p->owner->debounce);
	if (file_cache_writer_keep(p->file_cache_writer, p->actual_sha256, &e) < 0)
		log_error("a file of upstream is not cached: %s", e.msg);
	debounce_remove(&p->owner->debounce, debounce_weight(p->written));
	inflight_file_set_cached(p);
	inflight_file_unref(p); // not end_request(): clients may be reading the whole file
}

static void start_request(struct inflight_file *p, uint64_t delay_ms);

static bool may_retry(struct inflight_file *p, const struct fetch_result *result)
{
	bool is_passing = result->failure == FETCH_REFUSED || result->failure == FETCH_TIMEOUT ||
			  result->failure == FETCH_TRUNCATED || result->failure == FETCH_RESOLVE ||
			  (result->failure == FETCH_CANCELLED && result->answer->status);
	pthread_mutex_lock(&p->owner->lock);
	bool may_continue = !p->owner->is_cancelled &&
			    (p->is_known || !p->written); // parts of two different files must not be joined
	pthread_mutex_unlock(&p->owner->lock);
	return may_continue && is_passing && ++p->tries < TRIES;
}

static void on_done(void *ctx, const struct fetch_result *result)
{
	struct inflight_file *p = ctx;
	bool is_whole = result->failure == FETCH_WHOLE && inflight_file_state(p) == FILE_FETCH_STREAM,
	     is_wanted = false;
	if (p->has_stopped) {
		end_request(p);
	} else if (result->failure == FETCH_CANCELLED && inflight_file_pause(p, &is_wanted)) {
		// The download is paused. Its bytes stay; the reservation for the missing bytes is released.
		struct err e = ERR_INIT;
		if (file_cache_writer_reserve(p->file_cache_writer, 0, &e) < 0)
			log_debug("%s", e.msg); // a smaller reservation never fails
		release_turn(p);
		inflight_file_unref(p);
	} else if (is_wanted) {
		start_request(p, 0);
	} else if (is_whole && !(p->has_length && p->written < p->length)) {
		// Verifies the hash. If it is right, all clients get the file, and save_pool saves it.
		struct err e = ERR_INIT;
		if (file_cache_writer_check(p->file_cache_writer, p->actual_sha256, &e) == 0) {
			inflight_file_end(p, FILE_FETCH_KEPT, "");
			debounce_add(&p->owner->debounce, debounce_weight(p->written));
			release_turn(p);
			thread_pool_submit(p->owner->save_pool, save_file, p);
		} else {
			log_error("a file of upstream is not cached: %s", e.msg);
			inflight_file_end(p, FILE_FETCH_FAILED,
				"upstream's bytes do not have the hash that its page says");
			end_request(p);
		}
	} else if (may_retry(p, result)) {
		start_request(p, (uint64_t)FIRST_PAUSE_MS << p->tries);
	} else {
		log_warn("a download from upstream failed: %s", *result->why ? result->why : p->filename);
		inflight_file_end(p, FILE_FETCH_FAILED,
			is_whole ? "upstream sends less than it said" : fetch_failure_name[result->failure]);
		end_request(p);
	}
}

static void start_request(struct inflight_file *p, uint64_t delay_ms)
{
	CLEANUP(mem_free) char *range = xasprintf("Range: bytes=%llu-", (unsigned long long)p->written);
	const char *const headers[] = {p->written ? range : NULL, NULL};
	const struct fetch_request request = {
		.url = p->url,
		.headers = headers,
		.configured_url = p->home,
		.delay_ms = delay_ms,
		.limit = file_cache_most_of(p->owner->file_cache, p->is_known ? p->sha256 : NULL),
		.on_head = on_head,
		.on_body = on_body,
		.is_raw = true,
		.on_done = on_done,
		.ctx = p,
	};
	pthread_mutex_lock(&p->lock);
	p->is_cancelled = false; // the new request can be cancelled in its turn
	p->request = fetch_pool_get(p->owner->pool, &request);
	pthread_mutex_unlock(&p->lock);
}

// --- the table ---

static bool is_wanted(const struct inflight_file *p, const struct file_request *w)
{
	return strcmp(p->filename, w->filename) == 0 && strcmp(p->project, w->project) == 0 &&
	       p->is_known == (w->sha256 != NULL) && (!p->is_known || memcmp(p->sha256, w->sha256, SHA256_SIZE) == 0);
}

// With the table's lock held.
static void drop_expired(struct upstream_files *r)
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

// With the table's lock held. A reference for the caller; NULL: there is none.
static struct inflight_file *find_inflight(struct upstream_files *r, const struct file_request *w)
{
	drop_expired(r);
	for (struct inflight_file *p = r->first; p; p = p->next)
		if (is_wanted(p, w))
			return inflight_file_ref(p);
	return NULL;
}

// --- the queue ---

static int reserve_space(struct inflight_file *p, uint64_t size, struct err *e)
{
	if (p->file_cache_writer)
		return file_cache_writer_reserve(p->file_cache_writer, size, e);
	p->file_cache_writer = file_cache_begin(p->owner->file_cache, p->project, p->filename,
		p->is_known ? p->sha256 : NULL, size, e);
	return p->file_cache_writer ? 0 : -1;
}

// Paused downloads give their room to a new one.
static void expire_paused(struct upstream_files *r)
{
	pthread_mutex_lock(&r->lock);
	for (struct inflight_file *p = r->first; p; p = p->next)
		inflight_file_expire(p);
	drop_expired(r);
	pthread_mutex_unlock(&r->lock);
}

static int prepare_writer(struct inflight_file *p, struct err *e)
{
	uint64_t size = p->size >= 0 ? (uint64_t)p->size : 0;
	pthread_mutex_lock(&p->owner->lock);
	bool is_cancelled = p->owner->is_cancelled;
	pthread_mutex_unlock(&p->owner->lock);
	if (is_cancelled)
		return err_set(e, ERR_BUSY, "the server is stopping");
	if (reserve_space(p, size, e) == 0)
		return 0;
	if (e->kind != ERR_LIMIT)
		return -1;
	expire_paused(p->owner);
	return reserve_space(p, size, e);
}

// On the thread that called fair_queue_run(), which continues with the next entry.
static void begin_download(void *ctx UNUSED, struct fair_queue_entry *entry)
{
	struct inflight_file *p =
		(struct inflight_file *)(void *)((char *)entry - offsetof(struct inflight_file, queue_entry));
	struct err e = ERR_INIT;
	if (prepare_writer(p, &e) == 0) {
		start_request(p, 0);
		return;
	}
	log_error("a file of upstream is not downloaded: %s", e.msg);
	enum file_fetch_state state = e.kind == ERR_FULL    ? FILE_FETCH_FULL
				      : e.kind == ERR_LIMIT ? FILE_FETCH_BUSY
							    : FILE_FETCH_FAILED;
	inflight_file_end(p, state, "it could not be written here");
	fair_queue_end(p->queue, entry);
	if (p->file_cache_writer)
		file_cache_writer_discard(p->file_cache_writer);
	inflight_file_unref(p);
}

// --- calls ---

static void set_refusal(struct file_fetch_result *out, enum file_fetch_state state, const char *why)
{
	out->state = state;
	snprintf(out->why, sizeof(out->why), "%s", why);
}

void upstream_files_get(struct upstream_files *r, const struct file_request *request, bool wants_whole,
	struct continuation *continuation, struct file_fetch_result *out)
{
	*out = (struct file_fetch_result){.state = FILE_FETCH_LATER, .file.fd = -1};
	if (request->size >= 0 && (uint64_t)request->size > file_cache_most_of(r->file_cache, request->sha256)) {
		set_refusal(out, FILE_FETCH_FULL, "it is larger than what is kept here");
		return;
	}
	pthread_mutex_lock(&r->lock);
	struct inflight_file *p = find_inflight(r, request);
	if (!p && !r->is_cancelled) {
		p = inflight_file_new(request, r->queue, r->metrics);
		p->owner = r;
		p->next = r->first;
		r->first = inflight_file_ref(p);
	}
	pthread_mutex_unlock(&r->lock);
	if (!p) {
		set_refusal(out, FILE_FETCH_FAILED, "the server is stopping");
		return;
	}
	fair_queue_limit(r->queue, file_cache_most(r->file_cache));
	inflight_file_get(p, request->peer, wants_whole, continuation, out);
	if (out->state == FILE_FETCH_BUSY)
		metrics_add(r->metrics, METRIC_REFUSED_FILES, 1);
	inflight_file_unref(p);
	fair_queue_run(r->queue);
}

void upstream_files_drop_left(struct upstream_files *r)
{
	pthread_mutex_lock(&r->lock);
	drop_expired(r);
	for (struct inflight_file *p = r->first; p; p = p->next) {
		// With the table's lock held.
		uint64_t request = 0;
		switch (inflight_file_drop_left(p, &request)) {
		case INFLIGHT_FILE_DEQUEUED:
			inflight_file_unref(p); // the table has another reference
			break;
		case INFLIGHT_FILE_CANCELLED:
			fetch_pool_cancel(r->pool, request);
			break;
		case INFLIGHT_FILE_WANTED:
		default:
			break;
		}
	}
	pthread_mutex_unlock(&r->lock);
}

void upstream_files_count(struct upstream_files *r, struct fair_queue_counts *out)
{
	*out = (struct fair_queue_counts){0};
	if (r)
		fair_queue_count(r->queue, out);
}

// --- start and stop ---

struct upstream_files *upstream_files_new(struct fetch_pool *pool, unsigned concurrency, struct file_cache *file_cache,
	struct metrics *metrics)
{
	struct upstream_files *r = xcalloc(1, sizeof(*r));
	r->pool = pool;
	r->file_cache = file_cache;
	r->metrics = metrics;
	r->queue = fair_queue_new(&(struct fair_queue_options){
		.under_way = concurrency, .waiting = LIMIT_FILES_WAITING, .begin = begin_download, .ctx = r});
	debounce_init(&r->debounce, DEBOUNCE_PAUSE_MS, DEBOUNCE_MOST);
	r->save_pool = thread_pool_new(SAVERS, THREAD_POOL_FIRST_IN_FIRST_OUT, "save");
	pthread_mutex_init(&r->lock, NULL);
	return r;
}

void upstream_files_cancel(struct upstream_files *r)
{
	if (!r)
		return;
	pthread_mutex_lock(&r->lock);
	r->is_cancelled = true;
	for (struct inflight_file *p = r->first; p; p = p->next) {
		inflight_file_end(p, FILE_FETCH_FAILED, "the server is stopping");
		if (fair_queue_leave(r->queue, &p->queue_entry))
			inflight_file_unref(p); // the table has another reference
	}
	pthread_mutex_unlock(&r->lock);
}

void upstream_files_free(struct upstream_files *r)
{
	if (!r)
		return;
	debounce_close(&r->debounce);
	thread_pool_free(r->save_pool);
	debounce_destroy(&r->debounce);
	for (struct inflight_file *p = r->first, *next; p; p = next) {
		next = p->next;
		if (fair_queue_leave(r->queue, &p->queue_entry))
			inflight_file_unref(p);
		inflight_file_unref(p);
	}
	fair_queue_free(r->queue);
	pthread_mutex_destroy(&r->lock);
	free(r);
}
