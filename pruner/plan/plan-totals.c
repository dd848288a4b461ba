// SPDX-License-Identifier: Apache-2.0
#include "pruner/plan/plan-totals.h"

void plan_totals_add(struct plan_totals *t, enum verdict_kind kind, enum verdict_why why, uint64_t bytes)
{
	t->by[kind][why].files++;
	t->by[kind][why].bytes += bytes;
}

struct planfile_platform plan_totals_all(const struct plan_totals *t, const char *platform)
{
	struct planfile_platform all = {.name = platform};
	for (size_t kind = 0; kind < VERDICT_COUNT; kind++)
		for (size_t why = 0; why < VERDICT_WHY_COUNT; why++) {
			all.files += t->by[kind][why].files;
			all.bytes += t->by[kind][why].bytes;
		}
	return all;
}

size_t plan_totals_rows(const struct plan_totals *t, const char *platform, struct planfile_total *row, size_t count)
{
	for (size_t kind = 0; kind < VERDICT_COUNT; kind++)
		for (size_t why = 0; why < VERDICT_WHY_COUNT; why++) {
			const struct plan_totals_sum *sum = &t->by[kind][why];
			if (sum->files)
				row[count++] = (struct planfile_total){platform, verdict_name[kind],
					verdict_why_name[why], why == VERDICT_REMOVES, sum->files, sum->bytes};
		}
	return count;
}
