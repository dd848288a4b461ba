// SPDX-License-Identifier: Apache-2.0
// Compares the marks beside a folder's files (lib/state/store/sidecar.h) with those in the catalog. On the worker
// thread that scans the folder. Errors become SCAN_EVENT_PROBLEM events.
#pragma once

#include "indexer/walk/dir-snapshot.h"
#include "indexer/walk/scan-workers.h"

// Reads a mark whose name is in the folder, or which is in the snapshot, and sends an event where it differs from its
// row. fd is the open folder.
void scan_sidecars_check(struct scan_workers *workers, struct folder *folder, int fd, struct dir_snapshot *known,
	const char *filename, enum mark mark);
// Sends an event for each mark of the snapshot that was not seen.
void scan_sidecars_remove_unseen(struct scan_workers *workers, struct folder *folder, const struct dir_snapshot *known);
