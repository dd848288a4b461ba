// SPDX-License-Identifier: Apache-2.0
// Brings the catalog's copy of memberships and evidence up to date with the store's files. A file that is missing,
// damaged, was changed after it was written or does not continue the one before marks its view as damaged: the
// generations that the catalog has stay, and a catalog that has none does not take the view for empty. One thread at a
// time for each catalog connection.
#pragma once

#include <stdint.h>

#include "lib/base/strset.h"
#include "lib/state/catalog/catalog.h"

// What a comparison of the catalog with the files of memberships and evidence reports. The function is called on the
// thread that compares, and its arguments are borrowed for the call.

struct views_sync_counts {
	uint64_t generations, evidence; // that were new
	uint64_t damaged;               // files
};
// Calls fn for each damaged or missing file, with the reason; and for a membership that was read again, because the
// store was restored from a backup.
typedef void views_sync_damage_fn(void *ctx, const char *path, const char *reason);

// A folder that does not exist is empty. Errors of the catalog, and ERR_IO if the folder cannot be listed.
int views_sync(const char *folder, struct catalog *c, views_sync_damage_fn *fn, void *ctx,
	struct views_sync_counts *counts, struct err *e) MUST_CHECK;
// The same for one view alone, without evidence: for a writer, before it decides. fn may be NULL. 1: the membership is
// whole, and the catalog has it; 0: it is damaged.
int views_sync_view(const char *folder, const char *view, struct catalog *c, views_sync_damage_fn *fn, void *ctx,
	struct views_sync_counts *counts, struct err *e) MUST_CHECK;
// Adds the views that have a folder; a folder of views that does not exist has none. sweeps: removes what killed
// writers left there.
int views_find_folders(const char *folder, bool sweeps, struct strset *views, struct err *e) MUST_CHECK;
