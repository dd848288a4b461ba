// SPDX-License-Identifier: Apache-2.0
// Files of the last plan of a prune, with what a plan would say of them now: what `prune apply` checks again, by what the
// catalog knows; neither upstream nor the files are looked at. One thread at a time.
#pragma once

#include "lib/base/arena.h"
#include "lib/state/catalog/catalog-plan.h"
#include "lib/state/config/config.h"
#include "lib/state/store/store.h"

struct upstream;

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
	struct upstream *upstream; // its last answers count; it is not asked
	const char *const *class;  // what the plan was asked to remove: "pure", …
	size_t classes;
	const char *policy_hash; // of the plan; NULL: unknown
};

// Sets the state of each row that the plan removes, and *has_changed: whether the policy is another one now. Errors of the
// catalog and of the policy's lists.
int plan_rows_check(struct plan_rows *rows, const struct plan_check *check, bool *has_changed, struct err *e) MUST_CHECK;
