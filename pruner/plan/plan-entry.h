// SPDX-License-Identifier: Apache-2.0
// Makes the plan's entry for a file from its row, its verdict and upstream's answer. One thread at a time.
#pragma once

#include "lib/state/catalog/catalog-candidate.h"
#include "lib/state/upstream/upstream.h"
#include "pruner/plan/planfile.h"
#include "pruner/plan/verdict.h"

enum { PLAN_ENTRY_LABEL = 16 }; // of an environment: "3.13t"

struct plan_entry {
	struct planfile_entry plan; // borrows from the arguments of plan_entry_init
	struct planfile_cover *cover;
	char (*label)[PLAN_ENTRY_LABEL];
};

// project NULL: it is unknown; answer is NULL too then. To be released.
void plan_entry_init(struct plan_entry *entry, const char *platform, const char *project,
	const struct catalog_candidate *file, const struct verdict *verdict, const struct upstream_answer *answer);
void plan_entry_release(struct plan_entry *entry);
