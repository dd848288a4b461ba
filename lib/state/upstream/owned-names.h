// SPDX-License-Identifier: Apache-2.0
// The projects that are ours: the store had them while upstream did not know them. If such a name is registered
// upstream later, its files are not merged (dependency confusion). The names are in a file beside the catalog, one line
// each, "<project> <when>", which outlives the catalog and only grows; the operator may remove a line. Any thread;
// several processes may share the file (record_change(), whose errors there are).
#pragma once

#include <stdbool.h>

#include "lib/base/err.h"
#include "lib/state/config/config.h"

struct owned_names;

// A missing file is an empty one; it is created with its first line. The caller closes *out.
int owned_names_open(const char *path, struct owned_names **out, struct err *e) MUST_CHECK;
void owned_names_close(struct owned_names *o);    // NULL is fine
void owned_names_cleanup(struct owned_names **o); // for CLEANUP
// Called for each project that another process or the operator added or removed, by the thread that notices it. It must
// not use o.
typedef void owned_names_fn(void *ctx, const char *project);
void owned_names_watch(struct owned_names *o, owned_names_fn *moved, void *ctx); // before other threads use o
// Reads the file again if it has changed; if that fails, the names stay as they were. A shorter file is read only after
// it has not changed for two seconds, because an editor may be writing it.
void owned_names_look(struct owned_names *o);
// The same; returns whether a project (normalised) is in the file.
bool owned_names_has(struct owned_names *o, const char *project);
// Adds those projects that are not in the file. They are on the disk when this returns. ERR_BUSY: somebody writes it by hand.
int owned_names_add(struct owned_names *o, const char *const *project, size_t count, struct err *e) MUST_CHECK;

// The operator's rules for project names when upstream is merged: whether upstream is asked, and whose files are
// listed. Any thread once it is initialised.

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
