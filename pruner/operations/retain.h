// SPDX-License-Identifier: Apache-2.0
// Ends the versions that views no longer keep ([view NAME] keep-versions, keep-days): promoter/view-channel.h decides.
// In a view with a membership the members end, in one generation with the action "retain"; if another writer was
// faster, it is decided again. In any other the files are unlisted with a tombstone, on all platforms of the view, also
// those that another platform hides: `prune restore` lists them again, and `prune purge` deletes them after the grace
// period. A file stays, and is reported as kept, that another such view keeps, that a membership has, or whose platform
// is frozen. What a list, a pin or a branch wants stays (builder/missing/kept-versions.h). A view in doubt ends
// nothing. One thread.
//
// [view NAME] on-change is told once of a version that will end within warn-days: WHEELCACHE_CHANGE=ending,
// WHEELCACHE_VIEW, _PROJECT, _VERSION, _CAME and _ENDS (as "2026-11-20T06:00:00Z").
#pragma once

#include "promoter/view-channel.h"
#include "pruner/operations/operation.h"

struct retain_options {
	const char *view; // NULL: all views that have keep-versions or keep-days
	int64_t now;      // seconds since 1970
	bool is_dry;      // only report what would be done
	// Called for each version that will end within warn-days. NULL: not.
	void (*warn)(void *ctx, const struct view *v, const struct view_channel_project *p,
		const struct view_channel_version *ends);
	// Called for each version that ends, or would end. NULL: not.
	void (*end)(void *ctx, const struct view *v, const struct view_channel_project *p,
		const struct view_channel_version *ends);
	void *ctx;
};

// Of one view.
struct retain_view {
	const struct view *view;
	bool has_membership;
	char *doubt;     // why nothing ends; NULL: nothing is in the way
	uint64_t ended;  // versions that ended, or would end
	uint64_t ending; // versions that will end within warn-days
	uint64_t stale;  // projects that are stale in an environment
	uint64_t files;  // that ended, or would end
	struct jsondoc *project; // view_channel_project_json() of those of which a version ends or will, or that are stale
};

struct retain_result {
	struct retain_view *view;
	size_t views;
};

// site: over operation->store, made after pins_sync(). A file that cannot be unlisted is reported, and the others are;
// then the last error is returned. ERR_USAGE: no such view, or one that has neither key; ERR_CONFLICT: a view is in
// doubt. The caller ends the operation, and releases *out in any case.
int retain(struct operation *x, const struct site *site, const struct retain_options *options,
	struct retain_result *out, struct err *e) MUST_CHECK;
void retain_result_release(struct retain_result *r); // for CLEANUP
