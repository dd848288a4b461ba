// SPDX-License-Identifier: Apache-2.0
// Reads one file that is new or differs from its row.
#pragma once

#include "indexer/walk/scan-workers.h"

// For scan_workers_options.is_wanted: whether a known file must be read again, by its version. Any
// thread.
bool scan_file_is_wanted(void *ctx, const struct catalog_known *known, const struct place_version *now);
// A scan_workers_fn for job->filename in job->folder, whose pending the caller has raised. On a worker thread. Sends
// the file's event; errors become SCAN_EVENT_PROBLEM or SCAN_EVENT_WAITING.
void scan_file_run(struct scan_workers *workers, struct scan_worker *worker, struct scan_job *job);
