// SPDX-License-Identifier: Apache-2.0
// What the operator wants of a project's name where upstream is merged in: whether it is asked, and whose files count.
// Read-only once it is filled; any thread.
#pragma once

#include <stdbool.h>

#include "lib/state/config/config.h"

enum rule {
	RULE_MERGE,    // ours and upstream's; only ours where it was ours first
	RULE_PRIVATE,  // never asked: ours alone, and a name that nobody outside is to hear of
	RULE_LOCAL,    // the same, for a name that is no secret
	RULE_UPSTREAM, // upstream's alone
	RULE_SHARED,   // ours and upstream's, though it was ours first: the operator says that both are the same
	RULE_COUNT,
};
extern const char *const rule_name[RULE_COUNT]; // as [upstream] has it: "private", "local-only", …

struct rules {
	char *names[RULE_COUNT]; // names and globs, with blanks between; NULL: none
};

void rules_init(struct rules *r, const struct config *c);
void rules_release(struct rules *r);
// project is normalised, and so are the names and globs. The first list of private, local-only, upstream-only and shared
// that has it counts.
enum rule rules_find(const struct rules *r, const char *project);
// Whether upstream may be asked for such a project.
bool rule_asks(enum rule rule);
