// SPDX-License-Identifier: Apache-2.0
// Files of the last plan of a prune, with what a plan would say of them now: what `prune apply` checks again, by what the
// catalog knows; neither upstream nor the files are looked at. One thread at a time.
#pragma once

#include "lib/base/arena.h"
#include "lib/state/catalog/catalog-plan.h"
#include "server/core/plan-check.h"

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

// Sets the state of each row that the plan removes. check: all but the projects, platforms, report and its context, which
// are the rows'. Errors of the callback.
int plan_rows_check(struct plan_rows *rows, const struct plan_check *check, plan_check_fn *fn,
	struct err *e) MUST_CHECK;
