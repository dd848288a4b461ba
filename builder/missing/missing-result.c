// SPDX-License-Identifier: Apache-2.0
// The part of missing.h that needs no catalog.
#include "builder/missing/missing.h"

#include <stdlib.h>

const char *const missing_status_name[MISSING_STATUS_COUNT] = {
	[MISSING_NOT_WANTED] = "not-wanted",
	[MISSING_HERE] = "here",
	[MISSING_UNPROMOTED] = "unpromoted",
	[MISSING_SKIPPED] = "skipped",
	[MISSING_UPSTREAM] = "upstream",
	[MISSING_UNKNOWN] = "unknown",
	[MISSING_IMPOSSIBLE] = "impossible",
	[MISSING_PURE] = "pure",
	[MISSING_AWAITING] = "awaiting",
	[MISSING_FAILED] = "failed",
	[MISSING_MISSING] = "missing",
};

const enum missing_status missing_status_shown[MISSING_STATUS_COUNT] = {MISSING_MISSING, MISSING_UNPROMOTED,
	MISSING_FAILED, MISSING_AWAITING, MISSING_UNKNOWN, MISSING_IMPOSSIBLE, MISSING_PURE, MISSING_HERE,
	MISSING_UPSTREAM, MISSING_SKIPPED, MISSING_NOT_WANTED};

bool missing_has_column(const struct missing *m, enum missing_status status)
{
	return status != MISSING_UNPROMOTED || m->total[status];
}

void missing_release(struct missing *m)
{
	free(m->branch);
	free(m->environment);
	free(m->row);
	arena_release(&m->text);
	*m = (struct missing){0};
}
