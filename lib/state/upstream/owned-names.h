// SPDX-License-Identifier: Apache-2.0
// The projects that are ours: the store had them while an upstream did not know them. If such a name is registered
// there later, its files are not merged (dependency confusion). The names are in a file beside the catalog, one line
// each, "<project> <when> upstream=<name>", which outlives the catalog and only grows; the operator may remove a line.
// A line without an upstream is of all: so one upstream alone has its lines. Any thread; several processes may share
// the file (record_change(), whose errors there are).
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
// The same; returns whether a project (normalised) is in the file, of this upstream or of all.
bool owned_names_has(struct owned_names *o, const char *project, const char *upstream);
// Adds those projects that are not in the file; upstream NULL: of all. They are on the disk when this returns.
// ERR_BUSY: somebody writes it by hand.
int owned_names_add(struct owned_names *o, const char *const *project, size_t count, const char *upstream,
	struct err *e) MUST_CHECK;

// The operator's rules for project names when upstreams are merged: whether one is asked, and whose files are listed.
// Any thread once it is initialised.

enum name_rule {
	NAME_RULE_MERGE,    // ours and upstream's files; only ours if the name was ours first
	NAME_RULE_PRIVATE,  // only our files; upstream is never asked, and must not learn the name
	NAME_RULE_LOCAL,    // the same, for a name that is no secret
	NAME_RULE_NOT_ASKED, // this upstream is not asked, by projects or not-projects
	NAME_RULE_UPSTREAM, // only upstream's files
	NAME_RULE_SHARED,   // ours and upstream's files, even if the name was ours first: both are the same project
	NAME_RULE_COUNT,
};
extern const char *const name_rule_text[NAME_RULE_COUNT]; // as [upstream] has it: "private", "local-only", …

// The names and globs of two values of the configuration in normal form, which the caller frees; NULL if both are.
char *name_list_normal(const char *names, const char *more);
// Whether one of them fits a project (normalised).
bool name_list_has(const char *names, const char *project);

struct name_rules { // by the numbers of config_upstreams
	char *names[LIMIT_UPSTREAMS][NAME_RULE_COUNT]; // names and globs, with blanks between; NULL: none
	char *projects[LIMIT_UPSTREAMS];               // NULL: all
};

void name_rules_init(struct name_rules *r, const struct config *c);
void name_rules_release(struct name_rules *r);
// The rule of one upstream. project is normalised. The first list of private, local-only, projects, upstream-only and
// shared that decides about it does.
enum name_rule name_rules_find(const struct name_rules *r, size_t upstream, const char *project);
// Keeps those of the order that may be asked for the project. Returns the rule of all of them: if none is left, the
// first one's; NAME_RULE_UPSTREAM if that of one is it, NAME_RULE_SHARED if that of each is.
enum name_rule name_rules_admit(const struct name_rules *r, const char *project, struct config_order *order);
// Whether upstream may be asked for a project with this rule.
bool name_rule_asks_upstream(enum name_rule rule);
