// SPDX-License-Identifier: Apache-2.0
// Deleting what was pruned, or retired, longer ago than the grace. What was pruned is decided once more first, by what
// upstream has now: only what would be pruned today too is deleted. Its tombstone stays. What was removed by hand is
// nobody's business here.
#pragma once

#include "lib/state/config/config.h"
#include "pruner/operations/operation.h"
#include "pruner/plan/policy.h"

struct purge_options {
	const char *const *glob; // names of platforms; none: all
	size_t globs;
	uint64_t grace;       // seconds
	bool is_retired_only; // of platforms that are retired, which need no upstream
	bool is_dry;          // nothing is deleted: what would be is told
	void (*progress)(void *ctx, uint64_t done, uint64_t all, uint64_t failed); // of look-ups; NULL: nobody wants it
	void *ctx;
};

struct purge_result {
	uint64_t waiting;           // files whose grace is not over
	uint64_t projects, unknown; // asked about; of which nobody knows what upstream has: a 404, or a failure
};

// What cannot be deleted is told, and the others are. ERR_BUSY where a platform is frozen, else the last trouble there
// was. policy may be NULL where only retired platforms are meant. The caller ends the errand.
int purge(struct operation *x, const struct config *c, const struct policy *policy, const struct purge_options *options,
	struct purge_result *out, struct err *e) MUST_CHECK;
