// SPDX-License-Identifier: Apache-2.0
// Makes a plan: looks up each project at upstream once, then gives each file of the store its verdict, from one
// snapshot of the catalog. It does not change the store. One thread at a time.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/err.h"
#include "lib/base/strset.h"
#include "lib/state/catalog/catalog.h"
#include "lib/state/config/config.h"
#include "lib/state/store/store.h"
#include "pruner/plan/planfile.h"
#include "pruner/plan/policy.h"

struct upstreams;
struct view_losses;

// Called with an entry of a plan when it is decided.
typedef int plan_entry_fn(void *ctx, const struct planfile_entry *entry, struct err *e);

struct plan_options {
	const char *const *glob; // of platform names; none: all
	size_t globs;
	const struct strset *projects; // only these, sorted; NULL or empty: all
	const char *path;              // of the plan file; NULL: none
	bool is_offline; // use the catalog's last answers, without look-ups; such a plan cannot be applied
	void (*progress)(void *ctx, uint64_t done, uint64_t all, uint64_t failed); // of look-ups; NULL: none
	void *ctx;
	plan_entry_fn *entry; // NULL: none
	void *entry_ctx;
};

// The plan without its files.
struct plan {
	struct planfile_head head; // borrows from config, store, policy and options; the rest is the plan's
	char id[PLANFILE_ID];
	struct arena text;
	struct planfile_failure *failure;
	size_t failure_room;
	struct view_losses *losses; // owns what head has of views
};

// A failed look-up is no error: all files of its project are kept, and the plan says why. ERR_NOT_FOUND where the store
// was never scanned, or no platform matches glob; errors of catalog.h and planfile.h. To be released in any case.
int plan_make(const struct config *c, const struct store *store, struct catalog *catalog, const struct policy *policy,
	const struct plan_options *options, struct plan *out, struct err *e) MUST_CHECK;
void plan_release(struct plan *p);

// Files that are decided about again. All is borrowed.
struct plan_again {
	const struct store *store;
	const char *const *platform; // names of those that are looked at
	size_t platforms;
	struct catalog *catalog; // the caller has begun to read
	const struct policy *policy;
	struct upstreams *upstreams;     // its last answers count; it is not asked
	const struct strset *projects; // sorted; files without a project are always looked at
	plan_entry_fn *entry;
	void *entry_ctx;
};
// Calls entry with what a plan would say now of each file of the projects. Writes nothing. Errors of catalog.h.
int plan_decide_again(const struct plan_again *again, struct err *e) MUST_CHECK;
