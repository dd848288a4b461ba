// SPDX-License-Identifier: Apache-2.0
// Checking one file that the catalog lists: are its bytes those of the SHA-256 that is recorded?
#pragma once

#include <pthread.h>

#include "indexer/check/check-report.h"
#include "indexer/check/reservoir.h"
#include "indexer/walk/scan-workers.h"

// What the crew's threads share: scan_workers_options.ctx.
struct verify_file {
	const struct reservoir *sample; // which files are hashed; NULL: all
	pthread_mutex_t lock;
	struct summary *summary; // under lock
};

// Adds to the list; thread-safe. folder, filename: of what the path is made; texts as in
// summary_add.
void verify_file_found(struct verify_file *c, enum check_report_list list, const struct folder *folder,
	const char *filename, const char *second, const char *third);
// For scan_workers_options.is_wanted: what is chosen, and what has another size, which needs no hashing.
bool verify_file_is_wanted(void *ctx, const struct catalog_known *known, const struct stat *st);
// A scan_workers_fn: job->filename in job->folder, whose pending was raised for it.
void verify_file_run(struct scan_workers *workers, struct worker *worker, struct job *job);
