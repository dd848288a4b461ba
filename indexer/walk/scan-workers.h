// SPDX-License-Identifier: Apache-2.0
// The threads of a scan or a check. They run jobs, count what they find, and send events through a queue, which ends
// with the last job. A job has a worker to itself while it runs. All functions are for any thread, except
// scan_workers_new, scan_workers_free, scan_workers_start_done and scan_workers_receive: these are for the thread that
// runs the walk.
#pragma once

#include <stdatomic.h>

#include "indexer/walk/event-queue.h"
#include "indexer/walk/scan-event.h"
#include "lib/base/strset.h"
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
	COUNT_INSIDE,    // wheels whose facts were taken
	COUNT_DONE,      // share of the scan that is done, of SHARE_ALL
	SCAN_WORKERS_COUNTS,
};

#define SHARE_ALL ((uint64_t)1 << 60)

struct scan_workers;
struct scan_job;
struct scan_worker;
typedef void scan_workers_fn(struct scan_workers *workers, struct scan_worker *worker, struct scan_job *job);

struct scan_workers_options {
	const struct store *store;
	const char *catalog;        // path; each worker has a connection of its own
	unsigned threads;           // at least 1
	int64_t settle_ns;          // a damaged file younger than this is still being written
	bool allow_empty;           // a platform's folder may be missing
	const _Atomic bool *cancel; // any thread may set it: the scan ends soon; NULL: never
	bool lists_all;             // folders whose mtime is known are listed too
	bool sweeps;                // temporary files of dead processes are removed
	bool takes_facts;           // of what is inside wheels
	uint64_t facts_most;        // bytes; larger wheels are left to facts-backfill, so that all are listed soon
	bool reads_attachments;     // also those whose size, mtime and inode are known
	// Whether to read a file that the catalog knows, and the job that does. A new file is always read, by
	// scan_file_run.
	bool (*is_wanted)(void *ctx, const struct catalog_known *known, const struct place_version *now);
	scan_workers_fn *read_known;
	void *ctx; // for both; any thread
	// An open folder that is about to be listed. Any thread; NULL: none.
	void (*on_folder)(void *ctx, const struct folder *folder, struct place_folder *open);
	void *folder_ctx;
	struct throttle *throttle; // for all reads; NULL: none
};

struct scan_worker {
	struct scan_worker *next;
	struct catalog *catalog;
	struct ingest *ingest;
};

struct scan_job {
	struct scan_workers *workers;
	scan_workers_fn *run;
	struct folder *folder;      // a reference
	bool is_gone;               // the folder no longer exists
	bool is_alone;              // the folders in it that the catalog knows are not scanned
	const struct strset *names; // only these of its entries are looked at, borrowed; NULL: all
	char *filename;             // owned; NULL: the job is for the folder
	int64_t id, written;        // of the file's row; 0: a new file
	uint64_t share;             // of the progress, of SHARE_ALL
};

// options are borrowed until scan_workers_free. Opens one connection per thread. Errors of catalog.h.
struct scan_workers *scan_workers_new(const struct scan_workers_options *options, struct err *e) MUST_CHECK;
// Waits for all jobs. scan_workers_receive must have returned the end of the queue before. NULL is fine.
void scan_workers_free(struct scan_workers *workers);
void scan_workers_cleanup(struct scan_workers **workers);
const struct scan_workers_options *scan_workers_options(const struct scan_workers *workers);

// Copies the job and takes ownership of its folder reference and filename. The first jobs are submitted between
// scan_workers_new and scan_workers_start_done, the others by running jobs.
void scan_workers_submit(struct scan_workers *workers, const struct scan_job *job);
void scan_workers_start_done(struct scan_workers *workers);
// Whether so many jobs are queued that the caller should run its next one itself.
bool scan_workers_is_busy(const struct scan_workers *workers);
bool scan_workers_is_cancelled(const struct scan_workers *workers);

void scan_workers_count(struct scan_workers *workers, enum scan_workers_count what, uint64_t number);
// Whether the caller should take the facts of these bytes: not if an earlier call of this scan was for the same bytes,
// nor while the facts that wait to be written fill LIMIT_INSIDE_WAITING.
bool scan_workers_begin_inside(struct scan_workers *workers, const uint8_t sha256[SHA256_SIZE]);
// Facts of this many bytes wait to be written; a negative number: they no longer do.
void scan_workers_inside_waits(struct scan_workers *workers, int64_t bytes);
uint64_t scan_workers_total(const struct scan_workers *workers, enum scan_workers_count what);
// Counts one wheel or sdist, for the scan and for the platform of the folder.
void scan_workers_count_file(struct scan_workers *workers, const struct folder *in);
uint64_t scan_workers_files_of(const struct scan_workers *workers, size_t platform_index);

// Takes ownership of the event. Blocks while the queue is full, as do the next four.
void scan_workers_send(struct scan_workers *workers, struct scan_event *event);
// Reports that a file of the catalog is gone.
void scan_workers_send_gone(struct scan_workers *workers, struct folder *folder, int64_t id, int64_t written);
// Reports that a file in the folder (filename NULL: the folder itself) could not be read, with the reason.
void scan_workers_send_problem(struct scan_workers *workers, struct folder *folder, const char *filename,
	const struct err *why);
// Reports that a file is still being written, with the reason to think so.
void scan_workers_send_waiting(struct scan_workers *workers, struct folder *folder, const char *filename,
	const char *why);
// Counts and reports a link in the open folder that is not followed. cause: where it leads, such as "it leads
// nowhere". The next scan looks again, because its target may change.
void scan_workers_send_link(struct scan_workers *workers, struct folder *folder, struct place_folder *open,
	const char *filename, const char *cause);
// One pending item of the folder is done. After the last one sends SCAN_EVENT_FOLDER.
void scan_workers_item_done(struct scan_workers *workers, struct folder *folder);
// Returns the next event, which the caller owns; NULL after timeout_ms, or with *ended at the end of the queue.
struct scan_event *scan_workers_receive(struct scan_workers *workers, unsigned timeout_ms, bool *ended);
