// SPDX-License-Identifier: Apache-2.0
// Purges: deletes the bytes of files that were pruned, retired or ended by `retain`, after the grace period, unless a
// view has them. A pruned file is decided again by what upstream has now, and deleted only if it would be pruned today.
// The tombstones stay. Files that an operator removed by hand are left alone. One thread.
#pragma once

#include "lib/state/config/config.h"
#include "pruner/operations/operation.h"
#include "pruner/plan/policy.h"

struct purge_options {
	const char *const *glob; // of platform names; none: all
	size_t globs;
	uint64_t grace;       // seconds
	bool is_retired_only; // only files of retired platforms, for which upstream is not asked
	bool is_dry;          // only report what would be done
	void (*progress)(void *ctx, uint64_t done, uint64_t all, uint64_t failed); // of look-ups; NULL: none
	void *ctx;
};

struct purge_result {
	uint64_t waiting;           // files within the grace period
	uint64_t projects, unknown; // that were looked up; whose look-up failed or was answered with 404
};

// A file that cannot be deleted is reported, and the others are deleted; then the last error is returned: ERR_BUSY
// where a platform is frozen. policy may be NULL with is_retired_only. The caller ends the operation.
int purge(struct operation *x, const struct config *c, const struct policy *policy, const struct purge_options *options,
	struct purge_result *out, struct err *e) MUST_CHECK;
