// SPDX-License-Identifier: Apache-2.0
// The last plan of a prune, in the catalog: for people to look at, and for "explain". What is carried out is the
// plan's file (pruner/plan/planfile), never this. Errors as in catalog.h.
#pragma once

#include "lib/state/catalog/catalog.h"

// What a plan says of one file. Strings are borrowed for the call.
struct catalog_planned {
	int64_t platform;
	const char *project, *version; // NULL: not known
	const char *filename;
	const char *path; // below the platform
	uint64_t size;
	const char *verdict; // "duplicate" … "keep"
	bool removes;
	const char *why;      // why it is kept, as a code; NULL: it is not
	const char *reason;   // in words
	const char *upstream; // the file that upstream has in its place; NULL: none
	bool is_identical;    // with the same bytes
};

// Writing: files are added while the plan is made, and it is the last one from its end on; until then, and where that
// never comes, readers see the one before. Each call may write (catalog_begin to catalog_commit), so none stands in a
// transaction; between them the connection is free for all.
struct catalog_planner;
int catalog_plan_begin(struct catalog *c, struct catalog_planner **out, struct err *e) MUST_CHECK;
int catalog_plan_add(struct catalog_planner *p, const struct catalog_planned *file, struct err *e) MUST_CHECK;
// made: seconds since 1970; head: JSON, all that the plan says beside the files ("totals", "look-ups", …).
int catalog_plan_finish(struct catalog_planner *p, const char *id, int64_t made, const char *head,
	struct err *e) MUST_CHECK;
void catalog_plan_cleanup(struct catalog_planner **p); // for CLEANUP; what was not finished counts for nothing

// The last plan: its id, when it was made, and its head (added to the buffers). ERR_NOT_FOUND where there is none.
int catalog_plan_last(struct catalog *c, struct buf *id, int64_t *made, struct buf *head, struct err *e) MUST_CHECK;

// Which of its files.
struct catalog_plan_filter {
	int64_t platform;
	const char *verdict; // NULL: any
	const char *text;    // part of the file's name or the project's, small letters for both; NULL: any
	int removes;         // 0: what is kept, 1: what is removed, -1: both
};
int catalog_plan_count(struct catalog *c, const struct catalog_plan_filter *filter, uint64_t *files, uint64_t *bytes,
	struct err *e) MUST_CHECK;
typedef int catalog_planned_fn(void *ctx, const struct catalog_planned *file, struct err *e);
// By project, as they were added: limit of them after the first skip.
int catalog_plan_files(struct catalog *c, const struct catalog_plan_filter *filter, uint64_t skip, uint64_t limit,
	catalog_planned_fn *fn, void *ctx, struct err *e) MUST_CHECK;
// All that it says of a project's files, on all platforms; nothing where there is no plan.
int catalog_plan_project(struct catalog *c, const char *project, catalog_planned_fn *fn, void *ctx,
	struct err *e) MUST_CHECK;
