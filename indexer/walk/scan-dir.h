// SPDX-License-Identifier: Apache-2.0
// Visiting one folder: what is in it, held against what the catalog knows of it.
#pragma once

#include "indexer/walk/scan-workers.h"

// A scan_workers_fn for job->folder; submits jobs for the folders in it and for the files that must be
// read.
void scan_dir_run(struct scan_workers *workers, struct worker *worker, struct job *job);
