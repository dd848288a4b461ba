// SPDX-License-Identifier: Apache-2.0
// What a plan adds up to: files and bytes of each platform, by verdict and by why they stay. One thread.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "pruner/plan/planfile.h"
#include "pruner/plan/verdict.h"

struct plan_totals_sum {
	uint64_t files, bytes;
};

// Of one platform; all zero is none.
struct plan_totals {
	struct plan_totals_sum by[VERDICT_COUNT][VERDICT_WHY_COUNT];
};

void plan_totals_add(struct plan_totals *t, enum verdict_kind kind, enum verdict_why why, uint64_t bytes);
struct planfile_platform plan_totals_all(const struct plan_totals *t, const char *platform);
// Adds a row for each sum that is not zero behind the count that are there, and returns how many there are then. There
// must be room for VERDICT_COUNT * VERDICT_WHY_COUNT more.
size_t plan_totals_rows(const struct plan_totals *t, const char *platform, struct planfile_total *row, size_t count);
