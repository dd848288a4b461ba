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

enum crew_count {
	COUNT_FILES,     // wheels and sdists
	COUNT_UNCHANGED, // of these: listed, and not looked into
	COUNT_CHECKED,   // of these: hashed, to compare with the catalog
	COUNT_WAITING,   // still being written
	COUNT_IGNORED,   // neither a wheel nor an sdist nor a folder
	COUNT_LINKS,     // links that lead out of the store, in a circle or nowhere
	COUNT_BYTES,     // hashed
	COUNT_DONE,      // share of the scan that is done, of SHARE_ALL
	CREW_COUNTS,
};

#define SHARE_ALL ((uint64_t)1 << 60)

struct crew;
struct job;
struct worker;
typedef void crew_fn(struct crew *crew, struct worker *worker, struct job *job);

struct crew_options {
	const struct store *store;
	const char *catalog;        // path; each worker reads by a connection of its own
	unsigned threads;           // at least 1
	int64_t settle_ns;          // a damaged file younger than this is still being written
	bool allow_empty;           // a platform's folder may be missing
	const _Atomic bool *cancel; // set by anybody: the scan ends soon; NULL: never
	bool lists_all;             // folders whose mtime is known are listed too
	bool sweeps;                // what uploads that died have left behind is removed
	// Whether to look into a file that the catalog knows, and how. A new one is always read
	// (reading_run).
	bool (*is_wanted)(void *ctx, const struct catalog_known *known, const struct stat *st);
	crew_fn *look;
	void *ctx;                 // of both
	struct throttle *throttle; // of all that is read; NULL: none
};

struct worker {
	struct worker *next;
	struct catalog *catalog;
	struct ingest *ingest;
};

struct job {
	struct crew *crew;
	crew_fn *run;
	struct folder *folder; // a reference
	bool is_gone;          // the folder is not there any more
	char *filename;        // owned; NULL where the job is the folder
	int64_t id, written;   // of the file in the catalog; 0: a new one
	uint64_t share;
};

// options are borrowed until crew_free. Opens a connection a thread.
struct crew *crew_new(const struct crew_options *options, struct err *e) MUST_CHECK;
// Waits for all jobs; the channel must be taken empty until it ended before.
void crew_free(struct crew *crew);
void crew_cleanup(struct crew **crew);
const struct crew_options *crew_options(const struct crew *crew);

// From any thread. The first jobs are handed out between crew_new and crew_started.
void crew_submit(struct crew *crew, const struct job *job); // copied; folder and filename go over
void crew_started(struct crew *crew);
// Whether so many jobs wait that the caller had better do the next one himself.
bool crew_is_busy(const struct crew *crew);
bool crew_is_cancelled(const struct crew *crew);

void crew_count(struct crew *crew, enum crew_count what, uint64_t number);
uint64_t crew_counted(const struct crew *crew, enum crew_count what);
void crew_saw(struct crew *crew, const struct folder *in); // one more wheel or sdist
uint64_t crew_seen(const struct crew *crew, size_t platform_index);

void crew_tell(struct crew *crew, struct outcome *outcome); // takes it over
// Tells that a file which the catalog knows is not there.
void crew_gone(struct crew *crew, struct folder *folder, int64_t id, int64_t written);
// Tells of a problem: the path of a file in the folder (NULL: the folder itself), and the reason.
void crew_problem(
	struct crew *crew, struct folder *folder, const char *filename, const struct err *why);
// Says that a file is still being written, and why it seems so.
void crew_waits(struct crew *crew, struct folder *folder, const char *filename, const char *why);
// One thing less that the folder waits for; tells when it is done.
void crew_folder_end(struct crew *crew, struct folder *folder);
struct outcome *crew_take(struct crew *crew, unsigned timeout_ms, bool *ended);
