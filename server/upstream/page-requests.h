// SPDX-License-Identifier: Apache-2.0
// The table of projects that the server asks upstreams for. However many clients want a project, it is requested once;
// who wants it of other upstreams than those that are being asked waits for that, and asks then.
//
// An entry holds the continuations that wait, its place in the fair queue (server/http/fair-queue.h), and the answer
// until the catalog has it. An upstream is not asked for a project again for some seconds after an answer. Any thread
// may call any function.
#pragma once

#include "lib/state/config/config.h"
#include "server/http/fair-queue.h"
#include "server/message/stream.h"

struct page_requests;
struct metrics;
struct upstream_project; // lib/state/upstream/upstream.h

// concurrency: requests at the same time. begin is called when a project's turn has come, by the thread that calls one
// of these functions; the turn lasts until page_requests_end(). metrics may be NULL. Never NULL.
struct page_requests *page_requests_new(unsigned concurrency, struct metrics *metrics,
	void (*begin)(void *ctx, const char *project, const struct config_order *order), void *ctx);
// No thread may use it any more. NULL is fine.
void page_requests_free(struct page_requests *a);
// Resumes all continuations, now and from now on. page_requests_may_ask() is false from now on.
void page_requests_cancel(struct page_requests *a);
bool page_requests_is_cancelled(struct page_requests *a);

// Whether the project may be requested now; true as well while its request is queued or in flight. An answer that was
// asked for before since (seconds since 1970) does not delay a new request, nor does one for another order that did not
// ask all upstreams of depends (bits by number).
bool page_requests_may_ask(struct page_requests *a, const char *project, const struct config_order *order,
	uint32_t depends, int64_t since);
enum page_requests_joined {
	// The continuation is kept. It may be resumed, and all that it belongs to freed, before the call returns
	PAGE_REQUESTS_JOINED,
	PAGE_REQUESTS_FULL, // the queue is full, for the client at peer or for all. The continuation was not kept
};
// Requests the project from these upstreams, or joins its request. peer: the client's address; NULL: "unix".
// continuation NULL: the request is made even if no client waits for it.
enum page_requests_joined page_requests_join(struct page_requests *a, const char *project,
	const struct config_order *order, const char *peer, struct continuation *continuation);
// Resumes the continuations whose clients have left, and removes queued requests that only they wanted. Called once a
// second.
void page_requests_drop_left(struct page_requests *a);
void page_requests_count(struct page_requests *a, struct fair_queue_counts *out);

// The request has ended. result: the answer, of which it takes a reference; NULL: none. Resumes the continuations.
void page_requests_end(struct page_requests *a, const char *project, struct upstream_project *result);
// Milliseconds since the request was queued.
int64_t page_requests_elapsed_ms(struct page_requests *a, const char *project);
// The answer that is not in the catalog yet, with a reference for the caller; NULL: none.
struct upstream_project *page_requests_unsaved(struct page_requests *a, const char *project);
// The catalog has the answer. Or it could not be saved (is_kept false): then it stays here for some seconds.
void page_requests_set_saved(struct page_requests *a, struct upstream_project *result, bool is_kept);
// Drops the answer if it is older than change number changed of the catalog, which another process made.
void page_requests_drop_older(struct page_requests *a, const char *project, int64_t changed);
