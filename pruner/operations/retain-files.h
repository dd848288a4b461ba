// SPDX-License-Identifier: Apache-2.0
// Unlists the files of versions that end in a view without a membership. A file stays that another such view keeps, that
// a membership has, or whose platform is frozen; it is reported as kept. One thread.
#pragma once

#include "promoter/view-channel.h"
#include "pruner/operations/operation.h"

// The other views without a membership that have keep-versions or keep-days.
struct retain_keeper {
	const struct view *view;
	struct view_channel *channel; // NULL: it is in doubt, and keeps all
};

struct retain_files {
	struct operation *operation;
	const struct config *config;
	const char *view;
	const struct kept_versions *kept; // what the lists and branches pin stays
	const struct retain_keeper *keeper;
	size_t keepers;
	const char *run;    // id of the tombstones
	const char *reason; // of the view's rules
	int64_t when;       // of the tombstones, by the wall clock
	bool is_dry;
	uint64_t files; // result: that were unlisted, or would be
};

// Unlists the files of the versions of p that end, on all platforms of the view, also those that another platform hides.
// A file that cannot be unlisted is reported, and *trouble has the reason; -1 only for other errors.
int retain_files_end(struct retain_files *r, const struct view *v, const struct view_channel_project *p,
	struct err *trouble, struct err *e) MUST_CHECK;
