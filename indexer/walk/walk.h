// SPDX-License-Identifier: Apache-2.0
// Walking a whole store by a crew, which a scan and a check share: every platform is visited, and
// what the crew tells is handed to one function, in the calling thread.
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "indexer/walk/scan-workers.h"

enum walk_phase {
	WALK_WAITS, // for another indexer on the same catalog
	WALK_READS,
	WALK_ENDS, // sums up
};

struct walk_progress {
	enum walk_phase phase;
	uint64_t files; // seen
	uint64_t bytes; // hashed
	double done;    // 0 to 1, an estimate
};

// Who looks on.
struct walk_watch {
	void (*progress)(void *ctx,
		const struct walk_progress *progress); // at most ten times a second; NULL: none
	void *ctx;
	const _Atomic bool *cancel; // set by any thread to end it soon; NULL: never
};

// What became of a file or folder; NULL: a while has passed. On -1 the walk ends.
typedef int walk_fn(void *ctx, const struct scan_event *outcome, struct err *e);

struct walk {
	// The caller's. scan_workers_options.threads 0 stands for the machine's processors; catalog and
	// cancel are filled in.
	struct walk_watch watch;
	struct catalog *catalog;
	struct scan_workers_options scan_workers_options;
	walk_fn *take;
	void *ctx;
	uint64_t bytes; // how many will be hashed, to tell the progress by; 0: every folder counts
			// as its neighbours
	// The walk's own. The crew can be asked what it counted until walk_release.
	struct scan_workers *workers;
	_Atomic bool stop;
	int64_t reported_ns;
};

// ERR_BUSY where it was cancelled.
int walk_run(struct walk *w, struct err *e) MUST_CHECK;
void walk_release(struct walk *w);
bool walk_is_cancelled(const struct walk *w);
// Tells the progress, also before and after walk_run.
void walk_report(struct walk *w, enum walk_phase phase);
