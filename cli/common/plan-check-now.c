// SPDX-License-Identifier: Apache-2.0
#include "cli/common/plan-check-now.h"

#include <string.h>

#include "pruner/plan/plan.h"

static struct policy_takes takes_of_classes(const struct plan_check *check)
{
	struct policy_takes takes = {false};
	for (size_t i = 0; i < check->classes; i++) {
		bool *class = policy_takes_class(&takes, check->class[i]);
		if (class)
			*class = true;
	}
	return takes;
}

static int report_entry(void *ctx, const struct planfile_entry *now, struct err *e UNUSED)
{
	const struct plan_check *check = ctx;
	const struct plan_check_file file = {
		.platform = now->platform,
		.path = now->path,
		.size = now->size,
		.mtime_ns = now->mtime_ns,
		.removes = now->removes,
		.reason = now->reason,
	};
	check->report(check->ctx, &file);
	return 0;
}

int plan_check_now(const struct plan_check *check, struct err *e)
{
	CLEANUP(policy_release) struct policy policy = {0};
	const struct policy_takes takes = takes_of_classes(check);
	struct plan_check copy = *check;
	if (policy_init(&policy, check->config, check->store, &takes, e) < 0)
		return -1;
	*check->has_changed = check->policy_hash && strcmp(check->policy_hash, policy.hash) != 0;
	const struct plan_again again = {
		.store = check->store,
		.platform = check->platform,
		.platforms = check->platforms,
		.catalog = check->catalog,
		.policy = &policy,
		.upstream = check->upstream,
		.projects = check->projects,
		.entry = report_entry,
		.entry_ctx = &copy,
	};
	return plan_decide_again(&again, e);
}
