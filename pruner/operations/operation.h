// SPDX-License-Identifier: Apache-2.0
// What all operations that change a store for pruning share: a lock, so that one runs at a time; a line in the audit
// log for each change; a report for each file; the tombstones of a store; a look at the views that have a file; and at
// the end the release of the platforms that were written. One thread at a time.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/arena.h"
#include "lib/base/err.h"
#include "lib/state/access/audit.h"
#include "lib/state/catalog/catalog.h"
#include "lib/state/store/store.h"
#include "lib/state/store/tombstone.h"

// The result for a file.
enum operation_result {
	OPERATION_DONE,   // pruned, restored, purged, …
	OPERATION_WOULD,  // would be done; this is a dry run
	OPERATION_BEFORE, // had been done before
	OPERATION_KEPT,   // left as it is; words say why
	OPERATION_GONE,   // its bytes are gone
	OPERATION_FAILED,
	OPERATION_RESULT_COUNT,
};

// Called for each file with its result. words: the reason, or "". bytes: its size.
typedef void operation_report_fn(void *ctx, const struct platform *platform, const char *filename,
	enum operation_result result, uint64_t bytes, const char *words);

struct operation {
	const struct store *store;
	struct catalog *catalog;
	struct audit *audit;
	const char *who;
	operation_report_fn *report; // NULL: none
	void *report_ctx;
	bool *is_written;                       // as store->platform
	uint64_t count[OPERATION_RESULT_COUNT]; // of files that were reported
	uint64_t bytes[OPERATION_RESULT_COUNT];
	int lock;
};

// Takes the lock. ERR_BUSY where another operation has it: a purge must not delete what a restore lists. The arguments
// are borrowed. To be released in any case.
int operation_begin(struct operation *x, const struct store *store, struct catalog *catalog, struct audit *audit,
	const char *who, struct err *e) MUST_CHECK;
void operation_release(struct operation *x);

// A file that is handled. Borrowed.
struct operation_file {
	const struct platform *platform;
	const char *filename, *project;
	const char *folder;    // NULL: all of its copies
	const uint8_t *sha256; // NULL: not known
	uint64_t size;
};
// Counts the result and calls report.
void operation_report(struct operation *x, const struct operation_file *f, enum operation_result result, const char *words);
// Writes a line to the audit log, of a change or an attempt, and marks the platform as written. action: "prune",
// "restore", …; reason: NULL: none; failure: NULL: it succeeded. Errors of audit.h.
int operation_audit(struct operation *x, const struct operation_file *f, const char *action, const char *reason,
	const struct err *failure, struct err *e) MUST_CHECK;
// How a file is unlisted, with a tombstone.
struct operation_unlisting {
	struct tombstone stone;      // its project, size, hash and author are set
	const char *action, *reason; // for the audit log
	const char *words;           // of the report, if it is done
	bool is_dry;                 // it is only reported
	bool has_changed;            // it is not unlisted, because it is another file now
};
// 1: it is unlisted; 0: it is not, and *trouble has the reason, or it is a dry run. Reports and logs it. -1 only for
// errors of the audit log.
int operation_unlist(struct operation *x, const struct operation_file *f, struct operation_unlisting *u, struct err *trouble,
	struct err *e) MUST_CHECK;
// Runs the release command of each platform that was written and has one. Tries all; returns the last error.
int operation_end(struct operation *x, struct err *e) MUST_CHECK;

// The folder of a path below a platform; "" for its root. The caller frees it. Any thread.
char *operation_folder(const char *path);

// --- files that views have ---

// 1: a view has the file, which is reported as kept, or, is_late, as one that should not have been unlisted; 0: none
// has it.
int operation_report_pinned(struct operation *x, const struct operation_file *f, bool is_late,
	struct err *e) MUST_CHECK;
// The second look at what a prune has unlisted: a view may have taken the file after the first look
// (pruner/plan/pins.h). Lists the file again if a view has it now; pins_sync() was called after the file was unlisted.
// Returns 1 if it is listed, and reports it as kept; 0 if no view has it. If it cannot be listed, that is reported, and
// *trouble has the reason. -1 only for errors of the catalog and of the audit log.
int operation_relist_pinned(struct operation *x, const struct operation_file *f, struct err *trouble,
	struct err *e) MUST_CHECK;

// --- tombstones ---

// One tombstone and its file. The strings belong to struct tombstones.
struct tombstones_file {
	struct operation_file file; // project NULL: it is quarantined, and refusal says why
	const char *text;           // of the tombstone
	bool has_file;              // its bytes are there, and the fields below, the size and the hash describe them
	int64_t mtime_ns;
	const char *version, *requires_python, *refusal; // NULL: none
};

// Which tombstones to load.
struct tombstones_wanted {
	const char *const *glob; // of platform names; none: all
	size_t globs;
	// NULL: all. file and stone are valid during the call.
	bool (*matches)(void *ctx, const struct tombstones_file *file, const struct tombstone *stone);
	void *ctx;
};

// Read into memory, because the caller writes the catalog while it handles them.
struct tombstones {
	struct tombstones_file *item; // by platform, then file name
	size_t count, room;
	struct arena text;
};

// ERR_NOT_FOUND where no platform matches glob; errors of catalog.h. To be released in any case.
int tombstones_load(struct tombstones *out, const struct store *store, struct catalog *catalog,
	const struct tombstones_wanted *wanted, struct err *e) MUST_CHECK;
// Adds a copy, with its strings.
void tombstones_add(struct tombstones *t, const struct tombstones_file *found);
void tombstones_release(struct tombstones *t);
