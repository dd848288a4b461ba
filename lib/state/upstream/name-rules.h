// SPDX-License-Identifier: Apache-2.0
// The operator's rules for project names when upstream is merged: whether upstream is asked, and whose files are
// listed. Any thread once it is initialised.
#pragma once

#include <stdbool.h>

#include "lib/state/config/config.h"

enum name_rule {
	NAME_RULE_MERGE,    // ours and upstream's files; only ours if the name was ours first
	NAME_RULE_PRIVATE,  // only our files; upstream is never asked, and must not learn the name
	NAME_RULE_LOCAL,    // the same, for a name that is no secret
	NAME_RULE_UPSTREAM, // only upstream's files
	NAME_RULE_SHARED,   // ours and upstream's files, even if the name was ours first: both are the same project
	NAME_RULE_COUNT,
};
extern const char *const name_rule_text[NAME_RULE_COUNT]; // as [upstream] has it: "private", "local-only", …

struct name_rules {
	char *names[NAME_RULE_COUNT]; // names and globs, with blanks between; NULL: none
};

void name_rules_init(struct name_rules *r, const struct config *c);
void name_rules_release(struct name_rules *r);
// project is normalised. The first list of private, local-only, upstream-only and shared that has it decides.
enum name_rule name_rules_find(const struct name_rules *r, const char *project);
// Whether upstream may be asked for a project with this rule.
bool name_rule_asks_upstream(enum name_rule rule);
