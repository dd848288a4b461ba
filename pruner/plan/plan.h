// SPDX-License-Identifier: Apache-2.0
// What is to become of every file of the store: upstream is asked about each project once, then each file gets its
// verdict, by what the catalog has at that moment. Nothing in the store changes. One thread.
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
#include "pruner/plan/plan-writer.h"
#include "pruner/plan/policy.h"

struct plan_options {
	const char *const *glob; // names of platforms; none: all
	size_t globs;
	const struct strset *projects; // these alone, sorted; NULL or none: all
	const char *path;              // where the plan goes; NULL: nowhere
	bool is_offline;               // nobody is asked: the catalog's last answers count, which is not for apply
	void (*progress)(void *ctx, uint64_t done, uint64_t all, uint64_t failed); // of look-ups; NULL: nobody wants it
	void *ctx;
	plan_writer_fn *entry; // every entry, as it is decided; NULL: nobody wants them
	void *entry_ctx;
};

// What came out, without the files.
struct plan {
	struct planfile_head head; // borrows from config, store, policy and options, else the plan's
	char id[PLANFILE_ID];
	char *policy;
	struct arena text;
	struct planfile_failure *failure;
	size_t failure_room;
	struct planfile_platform *platform;
	struct planfile_total *total;
	const char *option[POLICY_OPTIONS];
};

// Failed look-ups are no error: all files of such a project are kept, and the plan says why. ERR_NOT_FOUND where the
// store was never indexed, or no platform has such a name. To be released whatever it returned.
int plan_make(const struct config *c, const struct store *store, struct catalog *catalog, const struct policy *policy,
	const struct plan_options *options, struct plan *out, struct err *e) MUST_CHECK;
void plan_release(struct plan *p);
