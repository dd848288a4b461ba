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
enum errand_fate {
	ERRAND_DONE,   // pruned, restored, purged, …
	ERRAND_WOULD,  // it would be, in a dry run
	ERRAND_BEFORE, // it had been done before
	ERRAND_KEPT,   // it is left as it is, for a good reason
	ERRAND_GONE,   // its bytes are there no more
	ERRAND_FAILED,
	ERRAND_FATE_COUNT,
};
extern const char *const errand_fate_name[ERRAND_FATE_COUNT]; // "done", …

// Told of each file; words: why, or "". bytes: what it has.
typedef void errand_tell_fn(void *ctx, const struct platform *platform, const char *filename, enum errand_fate fate,
	uint64_t bytes, const char *words);

struct errand {
	const struct store *store;
	struct catalog *catalog;
	struct audit *audit;
	const char *who;
	errand_tell_fn *tell; // NULL: nobody wants to know
	void *tell_ctx;
	bool *is_written; // by store->platform
	uint64_t count[ERRAND_FATE_COUNT]; // of files that were told of
	uint64_t bytes[ERRAND_FATE_COUNT];
	int lock;
};

// ERR_BUSY where somebody else is at it: a purge must not delete what a restore lists. All is borrowed. To be released
// whatever it returned.
int errand_begin(struct errand *x, const struct store *store, struct catalog *catalog, struct audit *audit,
	const char *who, struct err *e) MUST_CHECK;
void errand_release(struct errand *x);

// What was done to one file, or tried.
struct errand_deed {
	const struct platform *platform;
	const char *action; // "prune", "restore", …
	const char *project, *file;
	const uint8_t *sha256; // NULL: not known
	const char *reason;
	const struct err *failure; // NULL: it was done
};
void errand_tell(struct errand *x, const struct platform *platform, const char *filename, enum errand_fate fate,
	uint64_t bytes, const char *words);
int errand_note(struct errand *x, const struct errand_deed *deed, struct err *e) MUST_CHECK;
// Releases what was written, as far as a platform has a release command; each is tried, the last error is told.
int errand_end(struct errand *x, struct err *e) MUST_CHECK;

// "" for the platform's root: the folder of a path below it. To be freed by the caller.
char *errand_folder(const char *path);
