// SPDX-License-Identifier: Apache-2.0
// Follows upstream's changes (upstream-diff.h): lists files again, yanks files, undoes yanks. Each change is written to
// the audit log; platforms that were written are released at the end. One thread.
#pragma once

#include <stdbool.h>

#include "lib/state/access/audit.h"
#include "pruner/operations/upstream-diff.h"

enum follow_result {
	FOLLOW_DONE,    // or, in a dry run, would be done
	FOLLOW_LOST,    // cannot be done: the bytes are gone
	FOLLOW_SKIPPED, // an operator has marked the file since the catalog was read: the mark stays
	FOLLOW_FAILED,
	FOLLOW_HELD, // not done: the platform is frozen
	FOLLOW_COUNT,
};

// Called for each step with its result. why: in words.
typedef void follow_fn(void *ctx, enum follow_result result, const struct platform *platform,
	const struct upstream_diff_step *step, const char *why);

struct follow_options {
	bool is_dry_run;
	const char *who;     // for the audit log
	struct audit *audit; // NULL in a dry run
	follow_fn *report;
	void *ctx;
};

// The numbers of steps by kind, of those done, and by result.
struct follow_counts {
	size_t done[UPSTREAM_DIFF_COUNT];
	size_t of[FOLLOW_COUNT];
};

// Does the steps of f, which was found for the same store. A step that fails is reported, and the others are done.
// ERR_BUSY: another operation runs. Other errors: the audit log cannot be written, or, at the end, a platform could not
// be released.
int follow_run(const struct store *store, struct catalog *c, const struct upstream_diff *f,
	const struct follow_options *o, struct follow_counts *out, struct err *e) MUST_CHECK;
