// SPDX-License-Identifier: Apache-2.0
// Totals of a plan: files and bytes of a platform, by verdict and by the reason to keep. One thread at a time.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "pruner/plan/planfile.h"
#include "pruner/plan/verdict.h"

struct plan_totals_sum {
	uint64_t files, bytes;
};

// Of one platform. All zero is empty.
struct plan_totals {
	struct plan_totals_sum by[VERDICT_COUNT][VERDICT_WHY_COUNT];
};

void plan_totals_add(struct plan_totals *t, enum verdict_kind kind, enum verdict_why why, uint64_t bytes);
struct planfile_platform plan_totals_all(const struct plan_totals *t, const char *platform);
// Appends to row, which has count rows, one for each sum that is not zero. Returns the new count. row must have room
// for VERDICT_COUNT * VERDICT_WHY_COUNT more.
size_t plan_totals_rows(const struct plan_totals *t, const char *platform, struct planfile_total *row, size_t count);
