// SPDX-License-Identifier: Apache-2.0
// Whether the last plan of a prune was applied: its tombstones say so, which name the plan. What was restored since does
// not count. One thread at a time.
#pragma once

#include "lib/format/jsondoc.h"
#include "lib/state/catalog/catalog.h"
#include "lib/state/store/store.h"
#include "server/core/named.h"

struct plan_applied {
	uint64_t files; // that are unlisted by it now; 0: it was not applied, or all was restored
	int64_t when;   // seconds since 1970: its last apply
	char *by;       // who did that; NULL: not known, or not for this asker
};

// On these platforms. named: whose names the asker may know; NULL: none. head: the plan without its files. The caller
// releases *out. Errors of the catalog.
int plan_applied_read(struct catalog *c, const struct platform *const *platform, size_t platforms,
	const struct named *named, const char *id, const struct jsondoc *head, struct plan_applied *out,
	struct err *e) MUST_CHECK;
void plan_applied_release(struct plan_applied *a); // all zero is fine; for CLEANUP
// {"at", "by", "command", "files"}; NULL: it was not applied. The caller frees it.
struct jsondoc *plan_applied_json(const struct plan_applied *a);
