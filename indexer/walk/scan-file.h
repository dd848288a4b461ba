// SPDX-License-Identifier: Apache-2.0
// Reading one file that is new, or not as the catalog has it.
#pragma once

#include "indexer/walk/scan-workers.h"

// What a scan wants to know of a file that the catalog knows: whether it must be read again.
bool scan_file_is_wanted(void *ctx, const struct catalog_known *known, const struct stat *st);
// A scan_workers_fn: job->filename in job->folder, whose pending was raised for it.
void scan_file_run(struct scan_workers *workers, struct worker *worker, struct job *job);
