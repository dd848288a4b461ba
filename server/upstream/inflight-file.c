// SPDX-License-Identifier: Apache-2.0
#include "server/upstream/inflight-file.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/limits.h"
#include "lib/os/clock.h"
#include "server/http/metrics.h"

enum {
	REST_SECONDS = 3,     // so long it is remembered how one ended
	WAKE_BYTES = 1 << 16, // who waits is woken for so much, or so seldom
	WAKE_MS = 50,
	UNWANTED_LOOKS = 2, // a second each: who was woken asks again meanwhile
	PAUSE_SECONDS = 60, // so long the bytes of what nobody wants are there for one who comes again
	UNSIZED = 1 << 20,  // what a file weighs of which nobody says how large it is
};

static bool has_ended(const struct inflight_file *p)
{
	return p->state != FILE_FETCH_LATER && p->state != FILE_FETCH_STREAM;
}

// --- as a stream ---

// The last byte stays here until all is known to be right.
static uint64_t available(const struct inflight_file *p)
{
	if (p->state == FILE_FETCH_KEPT)
		return p->written;
	return p->written == p->length && p->length ? p->length - 1 : p->written;
}

static ssize_t dist_file_read(struct stream *s, uint64_t at, char *out, size_t room)
{
	struct inflight_file *p = (struct inflight_file *)s;
	pthread_mutex_lock(&p->lock);
	uint64_t end_at = available(p);
	bool has_failed = has_ended(p) && p->state != FILE_FETCH_KEPT;
	pthread_mutex_unlock(&p->lock);
	if (has_failed)
		return -1;
	size_t len = end_at > at ? (size_t)(end_at - at) : 0;
	ssize_t n =
		len ? pread(file_cache_writer_fd(p->file_cache_writer), out, len < room ? len : room, (off_t)at) : 0;
	return len && n == 0 ? -1 : n; // another process has cut the file short
}

static void parcel_await(struct stream *s, uint64_t at, struct continuation *w)
{
	struct inflight_file *p = (struct inflight_file *)s;
	pthread_mutex_lock(&p->lock);
	bool is_ready = has_ended(p) || available(p) > at;
	if (!is_ready) {
		w->next = p->readers;
		p->readers = w;
	}
	pthread_mutex_unlock(&p->lock);
	if (is_ready)
		w->resume(w);
}

static void parcel_drop(struct stream *s)
{
	struct inflight_file *p = (struct inflight_file *)s;
	pthread_mutex_lock(&p->lock);
	p->streams--;
	pthread_mutex_unlock(&p->lock);
	inflight_file_unref(p);
}

static const struct stream_ops parcel_ops = {dist_file_read, parcel_await, parcel_drop};

// --- whose it is ---

void inflight_file_unref(struct inflight_file *p)
{
	if (atomic_fetch_sub(&p->owners, 1) != 1)
		return;
	file_cache_writer_free(p->file_cache_writer);
	pthread_mutex_destroy(&p->lock);
	free(p->project);
	free(p->filename);
	free(p->url);
	free(p->home);
	free(p);
}

struct inflight_file *inflight_file_new(const struct file_request *w, struct fair_queue *turns, struct metrics *metrics)
{
	struct inflight_file *p = xcalloc(1, sizeof(*p));
	p->base.ops = &parcel_ops;
	p->metrics = metrics;
	p->turns = turns;
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
	p->rests_until = clock_seconds() + REST_SECONDS; // until it has its place in the queue
	return p;
}

struct inflight_file *inflight_file_ref(struct inflight_file *p)
{
	atomic_fetch_add(&p->owners, 1);
	return p;
}

// --- what becomes of it ---

// Takes the lock's holder's waiters along: they look again.
static void unlock_and_wake_readers(struct inflight_file *p)
{
	struct continuation *w = STEAL_PTR(p->readers);
	pthread_mutex_unlock(&p->lock);
	continuation_resume_all(w);
}

static void unlock_and_wake(struct inflight_file *p)
{
	struct continuation *askers = STEAL_PTR(p->askers);
	unlock_and_wake_readers(p);
	continuation_resume_all(askers);
}

enum file_fetch_state inflight_file_state(struct inflight_file *p)
{
	pthread_mutex_lock(&p->lock);
	enum file_fetch_state state = p->state;
	pthread_mutex_unlock(&p->lock);
	return state;
}

void inflight_file_begin(struct inflight_file *p, uint64_t length, bool has_length)
{
	pthread_mutex_lock(&p->lock);
	p->length = length;
	p->has_length = has_length;
	if (!has_ended(p))
		p->state = FILE_FETCH_STREAM;
	unlock_and_wake(p);
}

static bool is_time_to_wake(struct inflight_file *p)
{
	int64_t now = clock_ms();
	if (p->written - p->woken_at < WAKE_BYTES && now - p->woken_ms < WAKE_MS)
		return false;
	p->woken_at = p->written;
	p->woken_ms = now;
	return true;
}

void inflight_file_grow(struct inflight_file *p, size_t bytes)
{
	pthread_mutex_lock(&p->lock);
	p->written += bytes;
	if (is_time_to_wake(p))
		unlock_and_wake_readers(p);
	else
		pthread_mutex_unlock(&p->lock);
}

void inflight_file_end(struct inflight_file *p, enum file_fetch_state state, const char *why)
{
	pthread_mutex_lock(&p->lock);
	if (!has_ended(p)) {
		p->state = state;
		metrics_add(p->metrics, state == FILE_FETCH_KEPT ? METRIC_FETCHED_FILES : METRIC_FAILED_FILES, 1);
		snprintf(p->why, sizeof(p->why), "%s", why);
		p->rests_until = clock_seconds() + REST_SECONDS;
	}
	unlock_and_wake(p);
}

void inflight_file_put(struct inflight_file *p)
{
	pthread_mutex_lock(&p->lock);
	p->is_put = true;
	pthread_mutex_unlock(&p->lock);
}

// --- who wants it ---

// Under the lock. What cannot be gone on with is finished, and so is a rest that is small.
static bool may_stop(const struct inflight_file *p)
{
	uint64_t left = p->has_length && p->written < p->length ? p->length - p->written : 0;
	bool is_nearly_there = p->has_length && (left <= LIMIT_FETCH_REST || left <= p->length / 4);
	return p->is_known ? !is_nearly_there : !p->written;
}

// Under the lock. It has no turn any more.
static void lay_by(struct inflight_file *p)
{
	metrics_add(p->metrics, METRIC_DROPPED_FILES, 1);
	p->has_turn = false;
	p->rests_until = p->written ? clock_seconds() + PAUSE_SECONDS : 0;
}

// Under the lock.
static enum inflight_file_op_result decide(struct inflight_file *p)
{
	bool is_wanted = p->askers || p->streams || !p->has_turn || p->is_dropped || has_ended(p);
	p->unwanted = is_wanted ? 0 : p->unwanted + 1;
	if (p->unwanted < UNWANTED_LOOKS)
		return INFLIGHT_FILE_WANTED;
	if (fair_queue_leave(p->turns, &p->turn)) {
		lay_by(p);
		return INFLIGHT_FILE_LEFT;
	}
	p->is_dropped = p->request && may_stop(p);
	return p->is_dropped ? INFLIGHT_FILE_DROPPED : INFLIGHT_FILE_WANTED;
}

enum inflight_file_op_result inflight_file_let_go(struct inflight_file *p, uint64_t *request)
{
	pthread_mutex_lock(&p->lock);
	enum inflight_file_op_result op_result = decide(p);
	*request = p->request;
	struct continuation *readers = continuation_take_left(&p->readers),
			    *askers = continuation_take_left(&p->askers);
	pthread_mutex_unlock(&p->lock);
	continuation_resume_all(readers);
	continuation_resume_all(askers);
	return op_result;
}

bool inflight_file_pause(struct inflight_file *p, bool *is_wanted)
{
	pthread_mutex_lock(&p->lock);
	bool was_dropped = p->is_dropped && !has_ended(p);
	*is_wanted = was_dropped && (p->askers || p->streams);
	bool rests = was_dropped && !*is_wanted;
	p->is_dropped = false;
	if (rests)
		lay_by(p);
	pthread_mutex_unlock(&p->lock);
	return rests;
}

void inflight_file_forget(struct inflight_file *p)
{
	pthread_mutex_lock(&p->lock);
	if (!has_ended(p) && !p->has_turn)
		p->rests_until = 0;
	pthread_mutex_unlock(&p->lock);
}

// Under the lock. It gets a place in the queue, if it has none.
static bool claim(struct inflight_file *p, const char *peer)
{
	if (has_ended(p))
		return true;
	p->unwanted = 0;
	if (p->has_turn) {
		fair_queue_join(p->turns, &p->turn, peer);
		return true;
	}
	p->has_turn = fair_queue_enter(p->turns, &p->turn, peer, p->size >= 0 ? (uint64_t)p->size : UNSIZED);
	if (p->has_turn)
		inflight_file_ref(p);
	else
		p->rests_until = p->written ? p->rests_until : 0;
	p->request = 0;
	p->rate_limit = 0;
	return p->has_turn;
}

bool inflight_file_is_over(struct inflight_file *p)
{
	pthread_mutex_lock(&p->lock);
	bool is_over = has_ended(p) ? clock_seconds() >= p->rests_until && (p->state != FILE_FETCH_KEPT || p->is_put)
				    : !p->has_turn && clock_seconds() >= p->rests_until;
	pthread_mutex_unlock(&p->lock);
	return is_over;
}

// Under the lock: of one that is whole, what the depot would say of it.
static void take_file(const struct inflight_file *p, struct file_cache_file *out)
{
	if (p->state != FILE_FETCH_KEPT)
		return;
	out->fd = fcntl(file_cache_writer_fd(p->file_cache_writer), F_DUPFD_CLOEXEC, 0);
	out->size = p->written;
	memcpy(out->sha256, p->found, SHA256_SIZE);
}

void inflight_file_tell(struct inflight_file *p, const char *peer, bool wants_whole, struct continuation *continuation,
	struct file_fetch_result *out)
{
	pthread_mutex_lock(&p->lock);
	// Of an empty one no byte can be held back.
	bool may_stream = p->state == FILE_FETCH_STREAM && p->has_length && p->length && !wants_whole;
	if (!claim(p, peer)) {
		out->state = RETRIEVE_BUSY;
	} else if (may_stream || has_ended(p)) {
		out->state = p->state;
		out->length = p->length;
		out->stream = may_stream ? &inflight_file_ref(p)->base : NULL;
		p->streams += may_stream;
		take_file(p, &out->file);
		snprintf(out->why, sizeof(out->why), "%s", p->why);
	} else {
		continuation->next = p->askers;
		p->askers = continuation;
	}
	pthread_mutex_unlock(&p->lock);
}
