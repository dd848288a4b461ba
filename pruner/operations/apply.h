// SPDX-License-Identifier: Apache-2.0
// Carrying out a plan: what it removes is unlisted, after a second look at everything it rests on. Either all of it holds
// or nothing is done, but for what its options leave out. Cut off anywhere it is done again and ends the same: what has this
// run's tombstone is done.
#pragma once

#include "lib/state/config/config.h"
#include "pruner/operations/operation.h"
#include "pruner/plan/planfile.h"
#include "pruner/plan/policy.h"

struct apply_options {
	uint64_t max_files, max_bytes,
		max_failures;        // per cent: of a platform's listed files, of their bytes, of look-ups
	bool accepts_changed_policy; // each file still needs a verdict by the policy as it is now
	bool skips_changed_wheels;   // leave out what is not the file that was decided on
	bool skips_changed_evidence; // leave out what would not be removed today
	bool is_dry;                 // nothing is changed: what would be is told
	void (*look_progress)(void *ctx, uint64_t done, uint64_t all, uint64_t failed); // NULL: nobody wants it
	void (*file_progress)(void *ctx, uint64_t done, uint64_t all);
	void *ctx;
};

// policy: by the configuration as it is now and the classes that the plan was made with (apply_takes). ERR_CONFLICT: the
// plan does not hold any more; ERR_LIMIT: it is over a cap; ERR_NET: too many look-ups failed; ERR_BUSY: a platform is
// frozen. Nothing was done then. Later trouble is told of each file, and the last is the error. Ends the errand.
int apply(struct operation *x, const struct config *c, const struct policy *policy, const struct planfile *plan,
	const struct apply_options *options, struct err *e) MUST_CHECK;
struct policy_takes apply_takes(const struct planfile_head *head);
