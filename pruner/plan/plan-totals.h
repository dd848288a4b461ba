// SPDX-License-Identifier: Apache-2.0
// What a plan adds up to: files and bytes of each platform, by verdict and by why they stay. One thread.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "pruner/plan/planfile.h"
#include "pruner/plan/verdict.h"

struct tally_sum {
	uint64_t files, bytes;
};

// Of one platform; all zero is none.
struct tally {
	struct tally_sum by[VERDICT_COUNT][VERDICT_WHY_COUNT];
};

void tally_add(struct tally *t, enum verdict_kind kind, enum verdict_why why, uint64_t bytes);
struct planfile_platform tally_all(const struct tally *t, const char *platform);
// Adds a row for each sum that is not zero behind the count that are there, and returns how many there are then. There
// must be room for VERDICT_COUNT * VERDICT_WHY_COUNT more.
size_t tally_rows(const struct tally *t, const char *platform, struct planfile_total *row, size_t count);
