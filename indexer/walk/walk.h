// SPDX-License-Identifier: Apache-2.0
// The walk over all platforms of a store, shared by scan and check. Worker threads read folders and files; one function
// handles their events in the calling thread. One thread at a time.
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "indexer/walk/scan-workers.h"
#include "indexer/walk/store-changes.h"

enum walk_phase {
	WALK_WAITS, // for another indexer on the same catalog
	WALK_READS,
	WALK_LOOKS_INSIDE, // wheels whose facts the catalog lacks are read: files of all
	WALK_ENDS,         // the summary is made
};

struct walk_progress {
	enum walk_phase phase;
	uint64_t files; // seen
	uint64_t all;   // files of WALK_LOOKS_INSIDE
	uint64_t bytes; // hashed
	double done;    // 0 to 1, an estimate
};

// How a caller follows the walk, and stops it.
struct walk_watch {
	void (*progress)(void *ctx,
		const struct walk_progress *progress); // at most ten times a second; NULL: none
	void *ctx;
	const _Atomic bool *cancel; // any thread may set it: the walk ends soon; NULL: never
};

// Handles an event; NULL is a tick, about ten times a second. The event is borrowed. On -1 the walk ends with that
// error.
typedef int walk_event_fn(void *ctx, const struct scan_event *event, struct err *e);

struct walk {
	// Set by the caller. scan_workers_options.threads 0: one per processor; walk_run sets its catalog and cancel.
	struct walk_watch watch;
	struct catalog *catalog;
	struct scan_workers_options scan_workers_options;
	walk_event_fn *handle;
	void *ctx;
	const struct store_changes *changes; // sorted; only these names are walked; NULL: the whole store
	uint64_t bytes; // to be hashed, for the progress; 0: each folder counts as much as the folders beside it
	// Set by the walk. The workers' counts can be read until walk_release.
	struct scan_workers *workers;
	_Atomic bool stop;
	int64_t reported_ns;
};

// Walks the store and returns after the last event. ERR_BUSY where it was cancelled; errors of catalog.h and of handle.
// To be released in any case.
int walk_run(struct walk *w, struct err *e) MUST_CHECK;
void walk_release(struct walk *w);
bool walk_is_cancelled(const struct walk *w);
// Reports the progress; also usable before and after walk_run.
void walk_report(struct walk *w, enum walk_phase phase);
