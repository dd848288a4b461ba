// SPDX-License-Identifier: Apache-2.0
// What a comparison of the catalog with the files of memberships and evidence reports. The function is called on the
// thread that compares, and its arguments are borrowed for the call.
#pragma once

#include <stdint.h>

struct views_sync_counts {
	uint64_t generations, evidence; // that were new
	uint64_t damaged;               // files
};
// Calls fn for each damaged or missing file, with the reason; and for a membership that was read again, because the
// store was restored from a backup.
typedef void views_sync_damage_fn(void *ctx, const char *path, const char *reason);
