// SPDX-License-Identifier: Apache-2.0
// What the page of the last plan of a prune reads: its files, with what a plan would say of them now, which of them a
// person leaves out, and whether it was applied. One thread at a time.
#pragma once

#include "lib/base/arena.h"
#include "lib/base/buf.h"
#include "lib/base/limits.h"
#include "lib/state/catalog/catalog-plan.h"
#include "lib/state/config/config.h"
#include "lib/state/store/store.h"
#include "server/pages/page.h"

// Whether the last plan of a prune was applied: its tombstones say so, which name the plan. What was restored since
// does not count. One thread at a time.
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

// Files of the last plan of a prune, with what a plan would say of them now: what `prune apply` checks again, by what
// the catalog knows; neither upstream nor the files are looked at. One thread at a time.
struct upstreams;

// Of a file that the plan removes.
enum plan_row_state {
	PLAN_ROW_UNKNOWN, // it is kept, or nothing was decided again
	PLAN_ROW_HOLDS,
	PLAN_ROW_UNLISTED, // by an apply, or by hand
	PLAN_ROW_GONE,
	PLAN_ROW_CHANGED, // it is no longer the file that the plan decided on
	PLAN_ROW_KEPT,    // a plan would keep it now
};

struct plan_row {
	struct catalog_planned file;
	const struct platform *platform;
	enum plan_row_state state;
	const char *words; // why a plan would keep it; else NULL
};

// All zero is empty. The strings are in text.
struct plan_rows {
	struct plan_row *row;
	size_t count, room;
	struct arena text;
};

// Adds a copy.
void plan_rows_add(struct plan_rows *rows, const struct catalog_planned *file, const struct platform *platform);
void plan_rows_release(struct plan_rows *rows); // for CLEANUP

// By what the rows are decided about again. All is borrowed.
struct plan_check {
	const struct config *config;
	const struct store *store;
	struct catalog *catalog;   // the caller has begun to read; nothing is written
	struct upstreams *upstreams; // its last answers count; it is not asked
	const char *const *class;  // what the plan was asked to remove: "pure", …
	size_t classes;
	const char *policy_hash; // of the plan; NULL: unknown
};

// Sets the state of each row that the plan removes, and *has_changed: whether the policy is another one now. Errors of
// the catalog and of the policy's lists.
int plan_rows_check(struct plan_rows *rows, const struct plan_check *check, bool *has_changed, struct err *e) MUST_CHECK;

// The files of a plan that a person leaves out on its page, and the command that applies the plan without them. The
// page keeps nothing: the choice is in its URL, as numbers of one plan. One thread at a time.
// All zero is none.
struct plan_choice {
	int64_t id[LIMIT_PLAN_CHOSEN]; // numbers of files (struct catalog_planned), each once
	size_t count;
	bool has_more; // than that
};

// text: "12-7,9": digits, with any character between the numbers.
void plan_choice_read(struct plan_choice *x, const char *text);
bool plan_choice_has(const struct plan_choice *x, int64_t id);
// Adds "12-7-9" without the numbers of these rows. rows NULL: all numbers.
void plan_choice_write(const struct plan_choice *x, const struct plan_rows *rows, struct buf *out);

// Adds a word of a shell command, in quotes where it needs them. A control character becomes "?", which --except takes
// as any character.
void plan_choice_shell_word(struct buf *out, const char *word);
// Adds the command, as HTML. chosen: the files that are left out. file: the name of the plan file; NULL: unknown.
void plan_choice_command(struct buf *out, const struct plan_rows *chosen, const char *file);
