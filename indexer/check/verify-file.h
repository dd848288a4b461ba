// SPDX-License-Identifier: Apache-2.0
// Compares the bytes of one listed file with the SHA-256 in its row.
#pragma once

#include <pthread.h>

#include "indexer/check/check-report.h"
#include "indexer/check/reservoir.h"
#include "indexer/walk/scan-workers.h"

// What the workers share: scan_workers_options.ctx.
struct verify_file {
	const struct reservoir *sample; // the files to hash; NULL: all
	pthread_mutex_t lock;
	struct summary *summary; // under lock
};

// Adds a file to a list of the summary; second and third as in summary_add. Any thread.
void verify_file_report(struct verify_file *c, enum check_report_list list, const struct folder *folder,
	const char *filename, const char *second, const char *third);
// For scan_workers_options.is_wanted: the chosen files, and those of another size, which differ without hashing. Any
// thread.
bool verify_file_is_wanted(void *ctx, const struct catalog_known *known, const struct stat *st);
// A scan_workers_fn for job->filename in job->folder, whose pending the caller has raised. On a worker thread. Errors
// become SCAN_EVENT_PROBLEM events.
void verify_file_run(struct scan_workers *workers, struct scan_worker *worker, struct scan_job *job);
