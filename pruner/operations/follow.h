// SPDX-License-Identifier: Apache-2.0
// Follows upstream's changes: finds files that were pruned for what upstream no longer has, and upstream's yanks; then
// lists files again, yanks files, undoes yanks. Each change is written to the audit log; platforms that were written
// are released at the end. One thread.
#pragma once

#include <stdbool.h>

#include "lib/base/arena.h"
#include "lib/state/access/audit.h"
#include "lib/state/catalog/catalog.h"
#include "lib/state/store/store.h"
#include "lib/state/upstream/upstream.h"

enum upstream_diff_kind {
	UPSTREAM_DIFF_RELIST, // a pruned file that upstream no longer justifies, whose bytes are there
	UPSTREAM_DIFF_LOST,   // the same, but its bytes are gone
	UPSTREAM_DIFF_YANK,   // upstream has yanked all files of its release
	UPSTREAM_DIFF_UNYANK, // it was yanked for that reason, which no longer holds
	UPSTREAM_DIFF_COUNT,
};

struct upstream_diff_step {
	enum upstream_diff_kind kind;
	const struct platform *platform; // of the store
	const char *filename, *project;
	const char *folder; // RELIST, LOST: of the tombstone, below the platform
	const char *reason; // in words, one line
	const char *text;   // YANK: the text of the mark
	bool has_sha256;
	uint8_t sha256[SHA256_SIZE]; // of the pruned bytes
};

struct upstream_diff {
	struct upstream_diff_step *step; // in the order to do them, project by project
	size_t count, steps_room;
	size_t pruned;            // files that were pruned for what upstream has
	size_t projects, unknown; // that were looked up; whose look-up failed
	struct arena room;        // of the steps
};

struct upstream_diff_options {
	bool yanks;                                                                // find steps for yanks too
	void (*progress)(void *ctx, uint64_t done, uint64_t all, uint64_t failed); // NULL: none
	void *ctx;
};

// Asks upstream about every project with listed or pruned files, and writes only its answers to the catalog. A project
// whose look-up fails gets no step. A file with a tombstone of a prune that a view has is listed again; pins_sync() is
// called before. store is borrowed by *out. Errors of catalog.h. *out is to be released in any case.
int upstream_diff_find(const struct store *store, struct catalog *c, struct upstreams *u,
	const struct upstream_diff_options *o, struct upstream_diff *out, struct err *e) MUST_CHECK;
void upstream_diff_release(struct upstream_diff *f);

enum follow_result {
	FOLLOW_DONE,    // or, in a dry run, would be done
	FOLLOW_LOST,    // cannot be done: the bytes are gone
	FOLLOW_SKIPPED, // an operator has marked the file since the catalog was read: the mark stays
	FOLLOW_FAILED,
	FOLLOW_HELD, // not done: the platform is frozen
	FOLLOW_COUNT,
};

// Called for each step with its result. why: in words.
typedef void follow_fn(void *ctx, enum follow_result result, const struct platform *platform,
	const struct upstream_diff_step *step, const char *why);

struct follow_options {
	bool is_dry_run;
	const char *who;     // for the audit log
	struct audit *audit; // NULL in a dry run
	follow_fn *report;
	void *ctx;
};

// The numbers of steps by kind, of those done, and by result.
struct follow_counts {
	size_t done[UPSTREAM_DIFF_COUNT];
	size_t of[FOLLOW_COUNT];
};

// Does the steps of f, which was found for the same store. A step that fails is reported, and the others are done.
// ERR_BUSY: another operation runs. Other errors: the audit log cannot be written, or, at the end, a platform could not
// be released.
int follow_run(const struct store *store, struct catalog *c, const struct upstream_diff *f,
	const struct follow_options *o, struct follow_counts *out, struct err *e) MUST_CHECK;
