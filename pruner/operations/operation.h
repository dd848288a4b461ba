// SPDX-License-Identifier: Apache-2.0
// What all operations that change a store for pruning share: a lock, so that one runs at a time; a line in the audit
// log for each change; a report for each file; and at the end the release of the platforms that were written. One
// thread at a time.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/err.h"
#include "lib/state/access/audit.h"
#include "lib/state/catalog/catalog.h"
#include "lib/state/store/store.h"

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
extern const char *const operation_result_name[OPERATION_RESULT_COUNT]; // "done", …

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

// A change of one file, or an attempt, for the audit log.
struct operation_event {
	const struct platform *platform;
	const char *action; // "prune", "restore", …
	const char *project, *file;
	const uint8_t *sha256; // NULL: not known
	const char *reason;
	const struct err *failure; // NULL: it succeeded
};
// Counts the result and calls report.
void operation_report(struct operation *x, const struct platform *platform, const char *filename,
	enum operation_result result, uint64_t bytes, const char *words);
// Writes a line to the audit log, and marks the platform as written. Errors of audit.h.
int operation_audit(struct operation *x, const struct operation_event *event, struct err *e) MUST_CHECK;
// Runs the release command of each platform that was written and has one. Tries all; returns the last error.
int operation_end(struct operation *x, struct err *e) MUST_CHECK;

// The folder of a path below a platform; "" for its root. The caller frees it. Any thread.
char *operation_folder(const char *path);
