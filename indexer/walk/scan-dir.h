// SPDX-License-Identifier: Apache-2.0
// Scans one folder: compares its entries with its rows in the catalog.
#pragma once

#include "indexer/walk/scan-workers.h"

// A scan_workers_fn for job->folder: submits jobs for the folders in it and for the files that must be read, and sends
// events for what is gone. On a worker thread. Errors become SCAN_EVENT_PROBLEM events.
void scan_dir_run(struct scan_workers *workers, struct scan_worker *worker, struct scan_job *job);
