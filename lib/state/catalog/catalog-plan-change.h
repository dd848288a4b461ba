// SPDX-License-Identifier: Apache-2.0
// What the last plan of a prune says otherwise than the plan before it, about files that one of them removes. It is noted
// when a plan is finished, so that the catalog keeps one plan only. Platforms that only one of the two is about are left
// out. One thread at a time for each connection. Errors and callbacks as in catalog.h.
#pragma once

#include "lib/base/arena.h"
#include "lib/state/catalog/catalog.h"

// A file. Strings are borrowed for the call.
struct catalog_plan_change {
	int64_t platform;
	const char *project; // NULL: unknown
	const char *filename;
	uint64_t size;
	bool removed, removes;        // by the plan before, by the last one
	const char *before, *verdict; // of the plan before, of the last one; NULL: the file was not, or is not in it
};

// All zero is empty. The strings are in text.
struct catalog_plan_changes {
	struct catalog_plan_change *item; // the first LIMIT_PLAN_CHANGES, by platform and path
	size_t count, room;
	int64_t former; // the plan that was compared; 0: there was none
	struct arena text;
};

// Compares the last plan with this one, which is not finished yet. Without a last plan there are no changes. To be
// released in any case.
int catalog_plan_changes_find(struct catalog *c, int64_t plan, struct catalog_plan_changes *out,
	struct err *e) MUST_CHECK;
// Notes them, in a transaction of the caller, before the plan becomes the last one.
int catalog_plan_changes_set(struct catalog *c, int64_t plan, const struct catalog_plan_changes *changes,
	struct err *e) MUST_CHECK;
void catalog_plan_changes_release(struct catalog_plan_changes *x); // for CLEANUP

// The plan before the last one: its id, appended to id, and when it was made. ERR_NOT_FOUND: there was none.
int catalog_plan_former(struct catalog *c, struct buf *id, int64_t *made, struct err *e) MUST_CHECK;
typedef int catalog_plan_change_fn(void *ctx, const struct catalog_plan_change *change, struct err *e);
// What is noted of a platform, by path: at most `limit`.
int catalog_plan_changes_list(struct catalog *c, int64_t platform, uint64_t limit, catalog_plan_change_fn *fn,
	void *ctx, struct err *e) MUST_CHECK;
