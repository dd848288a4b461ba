// SPDX-License-Identifier: Apache-2.0
// Whether the last plan of a prune was applied: its tombstones say so, which name the plan. What was restored since does
// not count. One thread at a time.
#pragma once

#include "server/pages/page.h"

struct plan_applied {
	uint64_t files; // that are unlisted by it now; 0: it was not applied, or all was restored
	int64_t when;   // seconds since 1970: its last apply
	char *by;       // who did that; NULL: not known, or not for this asker
};

// On these platforms. asker: whose names it may know; NULL: none. head: the plan without its files. The caller
// releases *out. Errors of the catalog.
int plan_applied_read(struct catalog *c, const struct platform *const *platform, size_t platforms,
	const struct page_query *asker, const char *id, const struct jsondoc *head, struct plan_applied *out,
	struct err *e) MUST_CHECK;
void plan_applied_release(struct plan_applied *a); // all zero is fine; for CLEANUP
// {"at", "by", "command", "files"}, of one that was applied. The caller frees it.
struct jsondoc *plan_applied_json(const struct plan_applied *a);
