// SPDX-License-Identifier: Apache-2.0
// Takes the facts of the wheels that the catalog knows without: those of an older wheelcache, and those that a stopped
// scan or an upload left. Several threads read, the calling thread writes, in transactions of about a second; what is
// written stays, so a stopped run continues where it was.
#pragma once

#include <stdatomic.h>
#include <stdint.h>

#include "lib/base/err.h"
#include "lib/state/catalog/catalog.h"
#include "lib/state/store/store.h"

struct facts_backfill_options {
	const struct store *store;                                // registered
	unsigned threads;                                         // at least 1
	unsigned most_ms;                                         // no wheel is begun after this time; 0: no limit
	const _Atomic bool *cancel;                               // any thread may set it; NULL: never
	void (*progress)(void *ctx, uint64_t done, uint64_t all); // in the calling thread; NULL: none
	void *ctx;
};

struct facts_backfill_counts {  // of wheels with different bytes
	uint64_t taken;      // by this run
	uint64_t unreadable; // all that have no facts, because they cannot be read
	uint64_t lacking;    // all that are still to be looked at
};

// A wheel that cannot be read now is logged and left to the next run. Errors of catalog.h.
int facts_backfill_run(struct catalog *c, const struct facts_backfill_options *options,
	struct facts_backfill_counts *out, struct err *e) MUST_CHECK;
