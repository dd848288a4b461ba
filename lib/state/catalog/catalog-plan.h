// SPDX-License-Identifier: Apache-2.0
// The last plan of a prune, in the catalog: for the plan page and for `explain`. `prune apply` carries out the plan
// file (pruner/plan/planfile), never this. One thread at a time for each connection. Errors and callbacks as in
// catalog.h.
#pragma once

#include "lib/base/arena.h"
#include "lib/state/catalog/catalog.h"

// The plan's decision about one file. Strings are borrowed for the call.
struct catalog_planned {
	int64_t id; // of a file that is read: its number in the catalog; another plan has other numbers
	int64_t platform;
	const char *project, *version; // NULL: unknown
	const char *filename;
	const char *path; // below the platform
	uint64_t size;
	int64_t mtime_ns;    // of the file that was decided on; 0: unknown
	const char *verdict; // "duplicate" … "keep"
	bool removes;
	const char *why;      // why it is kept, as a code; NULL: it is not kept
	const char *reason;   // in words
	const char *upstream; // the file of upstream that replaces it; NULL: none
	bool is_identical;    // with the same bytes
};

// Writes a plan: files are added while the plan is made; after catalog_plan_finish it is the last one. Until then
// readers see the plan before it. Each call may open a transaction of its own, so none may be open; between the calls
// the connection may be used. The catalog is borrowed until catalog_plan_cleanup.
struct catalog_planner;
int catalog_plan_begin(struct catalog *c, struct catalog_planner **out, struct err *e) MUST_CHECK;
int catalog_plan_add(struct catalog_planner *p, const struct catalog_planned *file, struct err *e) MUST_CHECK;
// made: seconds since 1970; head: JSON, all that the plan says beside the files ("totals", "look-ups", …).
int catalog_plan_finish(struct catalog_planner *p, const char *id, int64_t made, const char *head,
	struct err *e) MUST_CHECK;
void catalog_plan_cleanup(struct catalog_planner **p); // for CLEANUP; an unfinished plan is dropped

// The last plan: its id and its head, appended to the buffers, and when it was made. ERR_NOT_FOUND: there is none.
int catalog_plan_last(struct catalog *c, struct buf *id, int64_t *made, struct buf *head, struct err *e) MUST_CHECK;

// Whether there is one; false if the catalog cannot be read.
bool catalog_plan_exists(struct catalog *c);

// Selects files of the plan.
struct catalog_plan_filter {
	int64_t platform;
	const char *verdict; // NULL: any
	const char *text;    // in the file's name or the project's, in lower case; NULL: any
	int removes;         // 0: kept files, 1: removed files, -1: both
};
int catalog_plan_count(struct catalog *c, const struct catalog_plan_filter *filter, uint64_t *files, uint64_t *bytes,
	struct err *e) MUST_CHECK;
typedef int catalog_planned_fn(void *ctx, const struct catalog_planned *file, struct err *e);
// In the order in which they were added: at most `limit` files after the first `skip`.
int catalog_plan_files(struct catalog *c, const struct catalog_plan_filter *filter, uint64_t skip, uint64_t limit,
	catalog_planned_fn *fn, void *ctx, struct err *e) MUST_CHECK;
// The file with this number; nothing is called if the last plan has no such file.
int catalog_plan_one(struct catalog *c, int64_t id, catalog_planned_fn *fn, void *ctx, struct err *e) MUST_CHECK;
// The files of a project on all platforms; none if there is no plan.
int catalog_plan_project(struct catalog *c, const char *project, catalog_planned_fn *fn, void *ctx,
	struct err *e) MUST_CHECK;

// --- what changed since the last plan ---
// What the last plan of a prune says otherwise than the plan before it, about files that one of them removes. It is
// noted when a plan is finished, so that the catalog keeps one plan only. Platforms that only one of the two is about
// are left out. One thread at a time for each connection. Errors and callbacks as in catalog.h.

// A file. Strings are borrowed for the call.
struct catalog_plan_change {
	int64_t platform;
	const char *project; // NULL: unknown
	const char *filename;
	uint64_t size;
	bool removed, removes;        // by the plan before, by the last one
	const char *before, *verdict; // of the plan before, of the last one; NULL: the file was not, or is not in it
};

// All zero is empty. The strings are in text.
struct catalog_plan_changes {
	struct catalog_plan_change *item; // the first LIMIT_PLAN_CHANGES, by platform and path
	size_t count, room;
	int64_t former; // the plan that was compared; 0: there was none
	struct arena text;
};

// The plan before the last one: its id, appended to id, and when it was made. ERR_NOT_FOUND: there was none.
int catalog_plan_former(struct catalog *c, struct buf *id, int64_t *made, struct err *e) MUST_CHECK;
typedef int catalog_plan_change_fn(void *ctx, const struct catalog_plan_change *change, struct err *e);
// What is noted of a platform, by path: at most `limit`.
int catalog_plan_changes_list(struct catalog *c, int64_t platform, uint64_t limit, catalog_plan_change_fn *fn,
	void *ctx, struct err *e) MUST_CHECK;
