// SPDX-License-Identifier: Apache-2.0
// Upstream's project pages for requests: from memory or the catalog while they are fresh, else from upstream.
//
// A page is fresh for as long as upstream said (max-age), at most for [upstream] max-age. A stale page is sent too,
// while it is requested again, and until it is as old as [upstream] stale if upstream fails. The answer that a project
// does not exist is fresh for negative-max-age. A failed request is not repeated for some seconds. Each project is
// requested once, however many clients want it; requests are queued fairly between clients (server/http/fair-queue.h),
// and a client that waits holds no thread.
#pragma once

#include <stdbool.h>

#include "lib/state/config/config.h"
#include "lib/state/upstream/upstream.h"
#include "server/core/catalog-pool.h"
#include "server/http/fair-queue.h"
#include "server/message/stream.h"

struct upstream_pages;
struct metrics;

// u, its fetch pool and catalog_pool are borrowed until upstream_pages_free(), and nothing else may use u's fetch
// pool. metrics may be NULL. learn is called with each answer of upstream, by a thread of this module, before any
// client gets the answer. Never NULL.
struct upstream_pages *upstream_pages_start(const struct config *c, struct upstreams *u,
	struct catalog_pool *catalog_pool, struct metrics *metrics, upstream_fn *learn, void *ctx);
// Takes over the cache lifetimes and whether upstream is asked at all. Any thread.
void upstream_pages_configure(struct upstream_pages *g, const struct config *c);
// Makes no more requests, and resumes the waiting clients, now and from now on. Any thread; NULL is fine.
void upstream_pages_cancel(struct upstream_pages *g);
// Cancels the requests in flight. The caller stops the fetch pool. No thread may use g any more. NULL is fine.
void upstream_pages_free(struct upstream_pages *g);
// Change number changed of the catalog touched this project. True: memory is as new, because this server made the
// change. False: the project is dropped from memory. Any thread.
bool upstream_pages_note_change(struct upstream_pages *g, const char *project, int64_t changed);
// Empties the memory, because the catalog file was replaced. Any thread.
void upstream_pages_clear(struct upstream_pages *g);

// Resumes clients that have left, and drops queued requests that only they wanted. Called once a second. Any thread.
void upstream_pages_drop_left(struct upstream_pages *g);
void upstream_pages_count(struct upstream_pages *g, struct fair_queue_counts *out);

// An order of upstreams is that of config.h, not empty; each may be asked for the project. The pages of answers have
// the hidden files too (upstream_report_listed()).

// Whether what is in memory of the project may be sent without looking it up. Does not block: for the event loop.
bool upstream_pages_is_fresh(struct upstream_pages *g, struct str project, const struct config_order *order);

// For a project whose first file arrived at since (seconds since 1970; 0: unknown): calls learn with an answer that
// upstream gave since then. If there is none, requests the project. Errors: the catalog's, and learn's. Any thread.
int upstream_pages_probe(struct upstream_pages *g, struct catalog *c, const char *project,
	const struct config_order *order, int64_t since, struct err *e) MUST_CHECK;
// Calls fn with what is known, however old, and makes no request. Errors: the catalog's, and fn's. Any thread.
int upstream_pages_load_cached(struct upstream_pages *g, struct catalog *c, const char *project,
	const struct config_order *order, upstream_fn *fn, void *ctx, struct err *e) MUST_CHECK;

enum {
	UPSTREAM_PAGES_LATER,    // the continuation is kept, and resumed when the call is to be repeated
	UPSTREAM_PAGES_ANSWERED, // fn was called. If nothing usable is known, it got no stale page, and result says why
	UPSTREAM_PAGES_BUSY,     // fn was not called: the queue is full, for the client at peer or for all
};
// On a worker thread, with a catalog connection of its own. peer: the client's address; NULL: "unix". since: a
// definitive answer from before then does not count. continuation NULL: does not wait, and calls fn with what is
// known. -1: fn's error, or the catalog's.
int upstream_pages_get(struct upstream_pages *g, struct catalog *c, const char *project, const struct config_order *order,
	const char *peer, int64_t since, struct continuation *continuation, upstream_fn *fn, void *ctx,
	struct err *e) MUST_CHECK;
