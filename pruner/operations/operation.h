// SPDX-License-Identifier: Apache-2.0
// What those share that change a store for pruning: one of them at a time, a line of the audit log for each change, and
// at the end the release of the platforms that were written. One thread.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/err.h"
#include "lib/state/access/audit.h"
#include "lib/state/catalog/catalog.h"
#include "lib/state/store/store.h"

// What became of a file.
enum operation_op_result {
	OPERATION_DONE,   // pruned, restored, purged, …
	OPERATION_WOULD,  // it would be, in a dry run
	OPERATION_BEFORE, // it had been done before
	OPERATION_KEPT,   // it is left as it is, for a good reason
	OPERATION_GONE,   // its bytes are there no more
	OPERATION_FAILED,
	OPERATION_FATE_COUNT,
};
extern const char *const operation_op_result_name[OPERATION_FATE_COUNT]; // "done", …

// Told of each file; words: why, or "". bytes: what it has.
typedef void operation_tell_fn(void *ctx, const struct platform *platform, const char *filename,
	enum operation_op_result op_result, uint64_t bytes, const char *words);

struct operation {
	const struct store *store;
	struct catalog *catalog;
	struct audit *audit;
	const char *who;
	operation_tell_fn *tell; // NULL: nobody wants to know
	void *tell_ctx;
	bool *is_written;                     // by store->platform
	uint64_t count[OPERATION_FATE_COUNT]; // of files that were told of
	uint64_t bytes[OPERATION_FATE_COUNT];
	int lock;
};

// ERR_BUSY where somebody else is at it: a purge must not delete what a restore lists. All is borrowed. To be released
// whatever it returned.
int operation_begin(struct operation *x, const struct store *store, struct catalog *catalog, struct audit *audit,
	const char *who, struct err *e) MUST_CHECK;
void operation_release(struct operation *x);

// What was done to one file, or tried.
struct operation_op_event {
	const struct platform *platform;
	const char *action; // "prune", "restore", …
	const char *project, *file;
	const uint8_t *sha256; // NULL: not known
	const char *reason;
	const struct err *failure; // NULL: it was done
};
void operation_tell(struct operation *x, const struct platform *platform, const char *filename,
	enum operation_op_result op_result, uint64_t bytes, const char *words);
int operation_note(struct operation *x, const struct operation_op_event *op_event, struct err *e) MUST_CHECK;
// Releases what was written, as far as a platform has a release command; each is tried, the last error is told.
int operation_end(struct operation *x, struct err *e) MUST_CHECK;

// "" for the platform's root: the folder of a path below it. To be freed by the caller.
char *operation_folder(const char *path);
