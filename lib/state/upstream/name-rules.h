// SPDX-License-Identifier: Apache-2.0
// What the operator wants of a project's name where upstream is merged in: whether it is asked, and whose files count.
// Read-only once it is filled; any thread.
#pragma once

#include <stdbool.h>

#include "lib/state/config/config.h"

enum name_rule {
	NAME_RULE_MERGE,    // ours and upstream's; only ours where it was ours first
	NAME_RULE_PRIVATE,  // never asked: ours alone, and a name that nobody outside is to hear of
	NAME_RULE_LOCAL,    // the same, for a name that is no secret
	NAME_RULE_UPSTREAM, // upstream's alone
	NAME_RULE_SHARED,   // ours and upstream's, though it was ours first: the operator says that both are the same
	NAME_RULE_COUNT,
};
extern const char *const name_rule_text[NAME_RULE_COUNT]; // as [upstream] has it: "private", "local-only", …

struct name_rules {
	char *names[NAME_RULE_COUNT]; // names and globs, with blanks between; NULL: none
};

void name_rules_init(struct name_rules *r, const struct config *c);
void name_rules_release(struct name_rules *r);
// project is normalised, and so are the names and globs. The first list of private, local-only, upstream-only and
// shared that has it counts.
enum name_rule name_rules_find(const struct name_rules *r, const char *project);
// Whether upstream may be asked for such a project.
bool name_rule_asks_upstream(enum name_rule rule);
