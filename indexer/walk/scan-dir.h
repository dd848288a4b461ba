// SPDX-License-Identifier: Apache-2.0
// Visiting one folder: what is in it, held against what the catalog knows of it.
#pragma once

#include "indexer/walk/scan-workers.h"

// A crew_fn for job->folder; submits jobs for the folders in it and for the files that must be
// read.
void visit_run(struct crew *crew, struct worker *worker, struct job *job);
