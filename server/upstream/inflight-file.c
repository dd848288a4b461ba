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
	RESULT_SECONDS = 3,     // how long the result of a download is kept
	NOTIFY_BYTES = 1 << 16, // streams are resumed after so many bytes, or after NOTIFY_MS
	NOTIFY_MS = 50,
	UNWANTED_CHECKS = 2,    // one a second: a client that was resumed asks again meanwhile
	PAUSE_SECONDS = 60,     // how long a paused download keeps its bytes for the next client
	UNKNOWN_SIZE = 1 << 20, // the weight in the queue of a file of unknown size
};

static bool has_ended(const struct inflight_file *p)
{
	return p->state != FILE_FETCH_LATER && p->state != FILE_FETCH_STREAM;
}

// --- as a stream ---

// The last byte is held back until the whole file is verified.
static uint64_t available_bytes(const struct inflight_file *p)
{
	if (p->state == FILE_FETCH_KEPT)
		return p->written;
	return p->written == p->length && p->length ? p->length - 1 : p->written;
}

static ssize_t read_stream(struct stream *s, uint64_t at, char *out, size_t room)
{
	struct inflight_file *p = (struct inflight_file *)s;
	pthread_mutex_lock(&p->lock);
	uint64_t end_at = available_bytes(p);
	bool has_failed = has_ended(p) && p->state != FILE_FETCH_KEPT;
	pthread_mutex_unlock(&p->lock);
	if (has_failed)
		return -1;
	size_t len = end_at > at ? (size_t)(end_at - at) : 0;
	ssize_t n =
		len ? pread(file_cache_writer_fd(p->file_cache_writer), out, len < room ? len : room, (off_t)at) : 0;
	return len && n == 0 ? -1 : n; // 0: another process has truncated the file
}

static void await_stream(struct stream *s, uint64_t at, struct continuation *w)
{
	struct inflight_file *p = (struct inflight_file *)s;
	pthread_mutex_lock(&p->lock);
	bool is_ready = has_ended(p) || available_bytes(p) > at;
	if (!is_ready) {
		w->next = p->byte_waiters;
		p->byte_waiters = w;
	}
	pthread_mutex_unlock(&p->lock);
	if (is_ready)
		w->resume(w);
}

static void drop_stream(struct stream *s)
{
	struct inflight_file *p = (struct inflight_file *)s;
	pthread_mutex_lock(&p->lock);
	p->streams--;
	pthread_mutex_unlock(&p->lock);
	inflight_file_unref(p);
}

static const struct stream_ops inflight_stream_ops = {read_stream, await_stream, drop_stream};

// --- references ---

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

struct inflight_file *inflight_file_new(const struct file_request *w, struct fair_queue *queue, struct metrics *metrics)
{
	struct inflight_file *p = xcalloc(1, sizeof(*p));
	p->base.ops = &inflight_stream_ops;
	p->metrics = metrics;
	p->queue = queue;
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
	p->expires_at = clock_seconds() + RESULT_SECONDS; // until it is queued
	return p;
}

struct inflight_file *inflight_file_ref(struct inflight_file *p)
{
	atomic_fetch_add(&p->owners, 1);
	return p;
}

// --- state ---

// With the lock held.
static void unlock_and_resume_byte_waiters(struct inflight_file *p)
{
	struct continuation *w = STEAL_PTR(p->byte_waiters);
	pthread_mutex_unlock(&p->lock);
	continuation_resume_all(w);
}

static void unlock_and_resume_all(struct inflight_file *p)
{
	struct continuation *answer_waiters = STEAL_PTR(p->answer_waiters);
	unlock_and_resume_byte_waiters(p);
	continuation_resume_all(answer_waiters);
}

enum file_fetch_state inflight_file_state(struct inflight_file *p)
{
	pthread_mutex_lock(&p->lock);
	enum file_fetch_state state = p->state;
	pthread_mutex_unlock(&p->lock);
	return state;
}

void inflight_file_begin_stream(struct inflight_file *p, uint64_t length, bool has_length)
{
	pthread_mutex_lock(&p->lock);
	p->length = length;
	p->has_length = has_length;
	if (!has_ended(p))
		p->state = FILE_FETCH_STREAM;
	unlock_and_resume_all(p);
}

static bool is_time_to_notify(struct inflight_file *p)
{
	int64_t now = clock_ms();
	if (p->written - p->notified_at < NOTIFY_BYTES && now - p->notified_ms < NOTIFY_MS)
		return false;
	p->notified_at = p->written;
	p->notified_ms = now;
	return true;
}

void inflight_file_grow(struct inflight_file *p, size_t bytes)
{
	pthread_mutex_lock(&p->lock);
	p->written += bytes;
	if (is_time_to_notify(p))
		unlock_and_resume_byte_waiters(p);
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
		p->expires_at = clock_seconds() + RESULT_SECONDS;
	}
	unlock_and_resume_all(p);
}

void inflight_file_set_cached(struct inflight_file *p)
{
	pthread_mutex_lock(&p->lock);
	p->is_cached = true;
	pthread_mutex_unlock(&p->lock);
}

// --- demand ---

// With the lock held. A download that cannot be continued later, or is nearly complete, is completed.
static bool may_cancel(const struct inflight_file *p)
{
	uint64_t left = p->has_length && p->written < p->length ? p->length - p->written : 0;
	bool is_nearly_there = p->has_length && (left <= LIMIT_FETCH_REST || left <= p->length / 4);
	return p->is_known ? !is_nearly_there : !p->written;
}

// With the lock held. The entry in the queue has been released.
static void pause_unwanted(struct inflight_file *p)
{
	metrics_add(p->metrics, METRIC_DROPPED_FILES, 1);
	p->is_queued = false;
	p->expires_at = p->written ? clock_seconds() + PAUSE_SECONDS : 0;
}

// With the lock held.
static enum inflight_file_demand check_demand(struct inflight_file *p)
{
	bool is_wanted = p->answer_waiters || p->streams || !p->is_queued || p->is_cancelled || has_ended(p);
	p->unwanted_checks = is_wanted ? 0 : p->unwanted_checks + 1;
	if (p->unwanted_checks < UNWANTED_CHECKS)
		return INFLIGHT_FILE_WANTED;
	if (fair_queue_leave(p->queue, &p->queue_entry)) {
		pause_unwanted(p);
		return INFLIGHT_FILE_DEQUEUED;
	}
	p->is_cancelled = p->request && may_cancel(p);
	return p->is_cancelled ? INFLIGHT_FILE_CANCELLED : INFLIGHT_FILE_WANTED;
}

enum inflight_file_demand inflight_file_drop_left(struct inflight_file *p, uint64_t *request)
{
	pthread_mutex_lock(&p->lock);
	enum inflight_file_demand demand = check_demand(p);
	*request = p->request;
	struct continuation *byte_waiters = continuation_take_left(&p->byte_waiters),
			    *answer_waiters = continuation_take_left(&p->answer_waiters);
	pthread_mutex_unlock(&p->lock);
	continuation_resume_all(byte_waiters);
	continuation_resume_all(answer_waiters);
	return demand;
}

bool inflight_file_pause(struct inflight_file *p, bool *is_wanted)
{
	pthread_mutex_lock(&p->lock);
	bool was_unwanted = p->is_cancelled && !has_ended(p);
	*is_wanted = was_unwanted && (p->answer_waiters || p->streams);
	bool is_paused = was_unwanted && !*is_wanted;
	p->is_cancelled = false;
	if (is_paused)
		pause_unwanted(p);
	pthread_mutex_unlock(&p->lock);
	return is_paused;
}

void inflight_file_expire(struct inflight_file *p)
{
	pthread_mutex_lock(&p->lock);
	if (!has_ended(p) && !p->is_queued)
		p->expires_at = 0;
	pthread_mutex_unlock(&p->lock);
}

// With the lock held. False: the queue is full.
static bool ensure_queued(struct inflight_file *p, const char *peer)
{
	if (has_ended(p))
		return true;
	p->unwanted_checks = 0;
	if (p->is_queued) {
		fair_queue_join(p->queue, &p->queue_entry, peer);
		return true;
	}
	p->is_queued = fair_queue_enter(p->queue, &p->queue_entry, peer, NULL,
		p->size >= 0 ? (uint64_t)p->size : UNKNOWN_SIZE);
	if (p->is_queued)
		inflight_file_ref(p);
	else
		p->expires_at = p->written ? p->expires_at : 0;
	p->request = 0;
	p->tries = 0;
	return p->is_queued;
}

bool inflight_file_is_over(struct inflight_file *p)
{
	pthread_mutex_lock(&p->lock);
	bool is_over = has_ended(p) ? clock_seconds() >= p->expires_at && (p->state != FILE_FETCH_KEPT || p->is_cached)
				    : !p->is_queued && clock_seconds() >= p->expires_at;
	pthread_mutex_unlock(&p->lock);
	return is_over;
}

void inflight_file_get(struct inflight_file *p, const char *peer, bool wants_whole, struct continuation *continuation,
	struct file_fetch_result *out)
{
	pthread_mutex_lock(&p->lock);
	// An empty file has no byte to hold back.
	bool may_stream = p->state == FILE_FETCH_STREAM && p->has_length && p->length && !wants_whole;
	if (!ensure_queued(p, peer)) {
		out->state = FILE_FETCH_BUSY;
	} else if (may_stream || has_ended(p)) {
		out->state = p->state;
		out->length = p->length;
		out->stream = may_stream ? &inflight_file_ref(p)->base : NULL;
		p->streams += may_stream;
		// With the lock held. Fills out as the file cache would, if the file is whole.
		if (p->state == FILE_FETCH_KEPT) {
			out->file.fd = fcntl(file_cache_writer_fd(p->file_cache_writer), F_DUPFD_CLOEXEC, 0);
			out->file.size = p->written;
			memcpy(out->file.sha256, p->actual_sha256, SHA256_SIZE);
		}
		snprintf(out->why, sizeof(out->why), "%s", p->why);
	} else {
		continuation->next = p->answer_waiters;
		p->answer_waiters = continuation;
	}
	pthread_mutex_unlock(&p->lock);
}
