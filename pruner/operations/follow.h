// SPDX-License-Identifier: Apache-2.0
// Does what follows from upstream's changes (pruner/operations/upstream-diff.h): lists again, yanks, takes yanks back. Each is written
// to the audit log; platforms with a release command are released at the end.
#pragma once

#include <stdbool.h>

#include "lib/state/access/audit.h"
#include "pruner/operations/upstream-diff.h"

enum follow_result {
	FOLLOW_DONE,    // or would be, in a dry run
	FOLLOW_LOST,    // its bytes are gone: nothing can be done
	FOLLOW_SKIPPED, // somebody else has marked it since the catalog was read: his mark stays
	FOLLOW_FAILED,
	FOLLOW_HELD, // its platform is frozen
	FOLLOW_COUNT,
};

typedef void follow_fn(void *ctx, enum follow_result result, const struct platform *platform,
	const struct upstream_diff_step *step, const char *why);

struct follow_options {
	bool is_dry_run;
	const char *who;     // runs this
	struct audit *audit; // NULL in a dry run
	follow_fn *told;     // of each step as it was done
	void *ctx;
};

// What came of the steps.
struct follow_counts {
	size_t done[UPSTREAM_DIFF_COUNT];
	size_t of[FOLLOW_COUNT];
};

// Goes on where one fails. ERR_BUSY: somebody else changes the store for pruning. Other errors: the audit log cannot be
// written; or, at the end, a platform that was written could not be released.
// store is the one that was searched.
int follow_run(const struct store *store, struct catalog *c, const struct upstream_diff *f,
	const struct follow_options *o, struct follow_counts *out, struct err *e) MUST_CHECK;
