// SPDX-License-Identifier: Apache-2.0
// Ends members of a view: those of versions that it no longer keeps. One generation for all of them, with the action
// "retain". If another writer was faster, it is decided again. One thread.
#pragma once

#include "promoter/view-channel.h"
#include "pruner/operations/operation.h"

struct retain_members {
	struct operation *operation;
	const struct site *site;
	const struct view *view;
	struct kept_versions *kept; // what does not end
	const char *reason;         // of the view's rules
	int64_t now;
	bool is_dry;
	uint64_t files;     // result: that ended, or would end
	int64_t generation; // result: the new one; 0: nothing ended
};

// Errors of the store, and ERR_CONFLICT if other writers were always faster.
int retain_members_end(struct retain_members *r, struct err *e) MUST_CHECK;
