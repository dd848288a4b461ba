// SPDX-License-Identifier: Apache-2.0
// The projects that upstream is asked for: each once, however many want it. Who waits, whose turn it is (server/http/fair-queue), and
// what came, until the catalog has it. What was asked is not asked again for some seconds. Thread-safe.
#pragma once

#include "server/http/fair-queue.h"
#include "server/message/stream.h"

struct page_requests;
struct metrics;
struct upstream_project; // lib/state/upstream/upstream.h

// begin: it is a project's turn to be asked for, until page_requests_end(); by whichever thread calls this. metrics may be NULL.
struct page_requests *page_requests_new(unsigned concurrency, struct metrics *metrics,
	void (*begin)(void *ctx, const char *project), void *ctx);
void page_requests_free(struct page_requests *a); // NULL is fine
// Nothing is begun any more, and who waits is woken, now and from now on.
void page_requests_cancel(struct page_requests *a);
bool page_requests_has_given_up(struct page_requests *a);

// Whether it may be asked for now; if it is being asked for, it may. That it was answered before since (seconds since 1970) is
// no reason not to ask again.
bool page_requests_may(struct page_requests *a, const char *project, int64_t since);
enum page_requests_joined {
	PAGE_REQUESTS_JOINED, // it is asked for, or waits for its turn. The waiter may have been woken, and all that it belongs to be gone
	PAGE_REQUESTS_FULL, // too much waits, of the client at peer or of all; the waiter was not taken
};
// again NULL: it is asked for whoever waits.
enum page_requests_joined page_requests_join(struct page_requests *a, const char *project, const char *peer,
	struct continuation *continuation);
// Lets go of the waiters whose clients have left, and of what waits for its turn for them alone.
void page_requests_let_go(struct page_requests *a);
void page_requests_count(struct page_requests *a, struct fair_queue_counts *out);

// It was answered by news, or not at all (NULL). Wakes who waits.
void page_requests_end(struct page_requests *a, const char *project, struct upstream_project *news);
// How long ago it began, with its wait for a turn.
int64_t page_requests_ms(struct page_requests *a, const char *project);
// What came, while it is not written down; with a reference for the caller. NULL: nothing.
struct upstream_project *page_requests_news(struct page_requests *a, const char *project);
// The catalog has it; or it could not be written (is_kept false): then it is told for the rest of its time.
void page_requests_written(struct page_requests *a, struct upstream_project *news, bool is_kept);
// What somebody else wrote by that change is newer.
void page_requests_drop_older(struct page_requests *a, const char *project, int64_t changed);
