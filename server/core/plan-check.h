// SPDX-License-Identifier: Apache-2.0
// What a prune would decide now about files of a plan, as the page of the plan needs it. The process has the policy
// (pruner/plan), so it answers, by a callback (server-callbacks.h).
#pragma once

#include "lib/base/strset.h"
#include "lib/state/catalog/catalog.h"
#include "lib/state/config/config.h"
#include "lib/state/store/store.h"

struct upstream;

// A file that was decided about. Strings are borrowed for the call.
struct plan_check_file {
	const char *platform, *path;
	uint64_t size;
	int64_t mtime_ns;
	bool removes;
	const char *reason;
};

// A request. All is borrowed.
struct plan_check {
	const struct config *config;
	const struct store *store;
	struct catalog *catalog;     // the caller has begun to read; nothing is written
	struct upstream *upstream;   // its last answers count; it is not asked
	const char *const *platform; // names of those that are looked at
	size_t platforms;
	const struct strset *projects; // sorted
	const char *const *class;      // what the plan was asked to remove: "pure", …
	size_t classes;
	const char *policy_hash; // of the plan; NULL: unknown
	bool *has_changed;       // set to whether the policy is another one now
	void (*report)(void *ctx, const struct plan_check_file *file);
	void *ctx;
};

// Calls report with each file of the projects on the platforms. Errors of the catalog and of the policy's lists.
typedef int plan_check_fn(const struct plan_check *check, struct err *e);
