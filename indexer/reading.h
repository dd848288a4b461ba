// SPDX-License-Identifier: Apache-2.0
// Reading one file that is new, or not as the catalog has it.
#pragma once

#include "indexer/crew.h"

// What has an mtime within this time before it was looked at may change once more without another
// mtime: file systems keep whole seconds (AFS) or two (FAT). It is not trusted, as git does it with
// its index.
#define RACY_NS ((int64_t)2000000000)

int64_t now_ns(void); // since 1970

// A crew_fn: job->filename in job->folder, whose pending was raised for it.
void reading_run(struct crew *crew, struct worker *worker, struct job *job);
