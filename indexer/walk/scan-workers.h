// SPDX-License-Identifier: Apache-2.0
// The threads of a scan or a check: they take jobs, count what they see, and put outcomes into a
// channel that ends when the last job has ended. Each job has a worker's tools to itself while it
// runs.
#pragma once

#include <stdatomic.h>

#include "indexer/walk/channel.h"
#include "indexer/walk/scan-event.h"
#include "lib/state/catalog/catalog-file.h"
#include "lib/state/store/ingest.h"

enum scan_workers_count {
	COUNT_FILES,     // wheels and sdists
	COUNT_UNCHANGED, // of these: listed, and not looked into
	COUNT_CHECKED,   // of these: hashed, to compare with the catalog
	COUNT_WAITING,   // still being written
	COUNT_IGNORED,   // neither a wheel nor an sdist nor a folder
	COUNT_LINKS,     // links that lead out of the store, in a circle or nowhere
	COUNT_BYTES,     // hashed
	COUNT_DONE,      // share of the scan that is done, of SHARE_ALL
	SCAN_WORKERS_COUNTS,
};

#define SHARE_ALL ((uint64_t)1 << 60)

struct scan_workers;
struct job;
struct worker;
typedef void scan_workers_fn(struct scan_workers *workers, struct worker *worker, struct job *job);

struct scan_workers_options {
	const struct store *store;
	const char *catalog;        // path; each worker reads by a connection of its own
	unsigned threads;           // at least 1
	int64_t settle_ns;          // a damaged file younger than this is still being written
	bool allow_empty;           // a platform's folder may be missing
	const _Atomic bool *cancel; // set by anybody: the scan ends soon; NULL: never
	bool lists_all;             // folders whose mtime is known are listed too
	bool sweeps;                // what uploads that died have left behind is removed
	// Whether to look into a file that the catalog knows, and how. A new one is always read
	// (scan_file_run).
	bool (*is_wanted)(void *ctx, const struct catalog_known *known, const struct stat *st);
	scan_workers_fn *look;
	void *ctx;                 // of both
	struct throttle *throttle; // of all that is read; NULL: none
};

struct worker {
	struct worker *next;
	struct catalog *catalog;
	struct ingest *ingest;
};

struct job {
	struct scan_workers *workers;
	scan_workers_fn *run;
	struct folder *folder; // a reference
	bool is_gone;          // the folder is not there any more
	char *filename;        // owned; NULL where the job is the folder
	int64_t id, written;   // of the file in the catalog; 0: a new one
	uint64_t share;
};

// options are borrowed until scan_workers_free. Opens a connection a thread.
struct scan_workers *scan_workers_new(const struct scan_workers_options *options, struct err *e) MUST_CHECK;
// Waits for all jobs; the channel must be taken empty until it ended before.
void scan_workers_free(struct scan_workers *workers);
void scan_workers_cleanup(struct scan_workers **workers);
const struct scan_workers_options *scan_workers_options(const struct scan_workers *workers);

// From any thread. The first jobs are handed out between scan_workers_new and scan_workers_started.
void scan_workers_submit(struct scan_workers *workers, const struct job *job); // copied; folder and filename go over
void scan_workers_started(struct scan_workers *workers);
// Whether so many jobs wait that the caller had better do the next one himself.
bool scan_workers_is_busy(const struct scan_workers *workers);
bool scan_workers_is_cancelled(const struct scan_workers *workers);

void scan_workers_count(struct scan_workers *workers, enum scan_workers_count what, uint64_t number);
uint64_t scan_workers_counted(const struct scan_workers *workers, enum scan_workers_count what);
void scan_workers_saw(struct scan_workers *workers, const struct folder *in); // one more wheel or sdist
uint64_t scan_workers_seen(const struct scan_workers *workers, size_t platform_index);

void scan_workers_tell(struct scan_workers *workers, struct scan_event *outcome); // takes it over
// Tells that a file which the catalog knows is not there.
void scan_workers_gone(struct scan_workers *workers, struct folder *folder, int64_t id, int64_t written);
// Tells of a problem: the path of a file in the folder (NULL: the folder itself), and the reason.
void scan_workers_problem(struct scan_workers *workers, struct folder *folder, const char *filename,
	const struct err *why);
// Says that a file is still being written, and why it seems so.
void scan_workers_waits(struct scan_workers *workers, struct folder *folder, const char *filename, const char *why);
// One thing less that the folder waits for; tells when it is done.
void scan_workers_folder_end(struct scan_workers *workers, struct folder *folder);
struct scan_event *scan_workers_take(struct scan_workers *workers, unsigned timeout_ms, bool *ended);
