// SPDX-License-Identifier: Apache-2.0
// The marks beside a folder's files (lib/state/store/sidecar.h), held against those that the catalog
// knows.
#pragma once

#include "indexer/walk/dir-snapshot.h"
#include "indexer/walk/scan-workers.h"

// A mark that the folder seems to have; fd is the open folder. Tells what is new about it.
void scan_sidecars_see(struct scan_workers *workers, struct folder *folder, int fd, struct dir_snapshot *known,
	const char *filename, enum mark mark);
// Tells of those known marks that were not seen.
void scan_sidecars_end(struct scan_workers *workers, struct folder *folder, const struct dir_snapshot *known);
