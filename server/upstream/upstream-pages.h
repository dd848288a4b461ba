// SPDX-License-Identifier: Apache-2.0
// What other indexes have of a project, as requests need it: what the catalog knows is told at once while it is fresh
// enough; what is not known is asked for, once however many want it, and whoever has to wait holds no thread.
//
// A page is fresh for as long as upstream said (max-age), at most as long as the configuration lets it. An older one is told
// too, while it is asked for again; where upstream fails, until it is as old as [upstream] stale says. That a project is not there counts for
// negative-max-age. What has failed is not tried again for some seconds. Questions are bounded, and have their turns fairly between
// clients (server/http/fair-queue).
#pragma once

#include <stdbool.h>

#include "lib/state/config/config.h"
#include "lib/state/upstream/upstream.h"
#include "server/core/catalog-pool.h"
#include "server/http/fair-queue.h"
#include "server/message/stream.h"

struct upstream_pages;
struct metrics;

// u is the gateway's while it lives, its pool too, and is borrowed; so are the readers. learn is called with whatever upstream said, by a thread of the
// gateway's, before those are woken who wait for it.
struct upstream_pages *upstream_pages_start(const struct config *c, struct upstream *u, struct catalog_pool *readers,
	struct metrics *metrics, upstream_fn *learn, void *ctx);
// How long what upstream said counts, and whether it is asked at all, as this configuration says. Any thread.
void upstream_pages_configure(struct upstream_pages *g, const struct config *c);
// Nothing is asked any more, and who waits is woken, now and from now on. Any thread; NULL is fine.
void upstream_pages_cancel(struct upstream_pages *g);
// NULL is fine. What is asked is cancelled; its pool goes on.
void upstream_pages_free(struct upstream_pages *g);
// The catalog's change of that number is one of this project's. Whether what is in memory is as new, since it was this
// server that wrote it; else it is forgotten.
bool upstream_pages_note_change(struct upstream_pages *g, const char *project, int64_t changed);
// All that is in memory: the catalog is another one.
void upstream_pages_clear(struct upstream_pages *g);

// To be called now and then: those whose clients have left wait no more, and what waits for its turn for them alone is dropped.
void upstream_pages_let_go(struct upstream_pages *g);
void upstream_pages_count(struct upstream_pages *g, struct fair_queue_counts *out);

// Whether what is in memory of the project may be sent without another look. On the event loop.
bool upstream_pages_is_fresh(struct upstream_pages *g, struct str project);

// For a project that is new here since then (seconds since 1970; 0: nobody knows): learn is called with what upstream said
// since, or else it is asked. Any thread.
int upstream_pages_probe(struct upstream_pages *g, struct catalog *c, const char *project, int64_t since,
	struct err *e) MUST_CHECK;
// Calls fn with what is known, however old, and asks nobody. Any thread.
int upstream_pages_recall(struct upstream_pages *g, struct catalog *c, const char *project, upstream_fn *fn, void *ctx,
	struct err *e) MUST_CHECK;

enum { UPSTREAM_PAGES_LATER, UPSTREAM_PAGES_TOLD, UPSTREAM_PAGES_BUSY };
// On a worker, with a connection of its own. UPSTREAM_PAGES_TOLD: fn was called with what is known; it has no stale page where
// nothing usable is, and result says why. UPSTREAM_PAGES_LATER: again was taken, and is woken when it can be told. -1: fn's
// error, or the catalog's. again NULL: does not wait, and tells what there is. UPSTREAM_PAGES_BUSY: nothing was told, and too much
// is to be asked already, by the client at peer (NULL: "unix") or by all. since: what was said for certain before then is as
// good as nothing.
int upstream_pages_get(struct upstream_pages *g, struct catalog *c, const char *project, const char *peer,
	int64_t since, struct continuation *continuation, upstream_fn *fn, void *ctx, struct err *e) MUST_CHECK;
