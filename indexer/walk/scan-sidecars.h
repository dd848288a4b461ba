// SPDX-License-Identifier: Apache-2.0
// Compares the marks (lib/state/store/sidecar.h) and attachments (lib/state/store/attachment-file.h) beside a folder's
// files with those in the catalog. On the worker
// thread that scans the folder. Errors become SCAN_EVENT_PROBLEM events.
#pragma once

#include "indexer/walk/dir-snapshot.h"
#include "indexer/walk/scan-workers.h"

// Reads a mark whose name is in the folder, or which is in the snapshot, and sends an event where it differs from its
// row. fd is the open folder.
void scan_sidecars_check(struct scan_workers *workers, struct folder *folder, int fd, struct dir_snapshot *known,
	const char *filename, enum mark mark);
// The same for an attachment. Its bytes are read where size, mtime or inode differ from the row, and always if
// reads_all.
void scan_sidecars_check_attachment(struct scan_workers *workers, struct folder *folder, int fd,
	struct dir_snapshot *known, const char *filename, enum attachment kind);
// Sends an event for each mark and attachment of the snapshot that was not seen.
void scan_sidecars_remove_unseen(struct scan_workers *workers, struct folder *folder, const struct dir_snapshot *known);
