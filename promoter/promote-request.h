// SPDX-License-Identifier: Apache-2.0
// What a promotion or a demotion is asked for. All of it is borrowed from the caller for the call. One thread at a time.
#pragma once

#include "lib/domain/promotion/evidence.h"

struct hook_queue;

// Whether the sender may promote files of this project on this platform. What it must not promote is as if it were not
// there: no row and no message names it.
typedef bool promote_may_fn(void *ctx, const char *platform, const char *project);

struct promote_request {
	const char *to;
	const char *from;          // must be the view's own `from`; NULL: that
	const char *const *select; // PROJECT, PROJECT==VERSION (PEP 440) or the name or path of a file; none: all files
	size_t selects;
	const struct evidence *evidence; // given with the request, in any order; kept even if it allows nothing
	size_t evidences;
	const char *evidence_views; // globs of the views for which the given evidence counts
	const char *reason;         // "": none
	const char *override;       // the reason of an override; NULL: none
	const char *by, *address;   // who, and from where ("": on the store's machine)
	promote_may_fn *may;        // NULL: everything
	void *may_ctx;
	struct hook_queue *hooks; // of [view] on-change, for the given evidence that is new; NULL: none are run
	unsigned cpu_ms;          // that the decision may compute; 0: no limit
	bool all_or_nothing, dry_run;
	bool newest; // older versions of what is selected are not looked at
};
