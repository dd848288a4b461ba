// SPDX-License-Identifier: Apache-2.0
// Finds the steps that follow from upstream's changes: files that were pruned for what upstream no longer has, and
// upstream's yanks. It asks upstream about every project with listed or pruned files, and writes only upstream's
// answers to the catalog. A project whose look-up fails gets no step. One thread.
#pragma once

#include <stdbool.h>

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
	char *filename, *project;
	char *folder; // RELIST, LOST: of the tombstone, below the platform
	char *reason; // in words, one line
	char *text;   // YANK: the text of the mark
	bool has_sha256;
	uint8_t sha256[SHA256_SIZE]; // of the pruned bytes
};

struct upstream_diff {
	struct upstream_diff_step *step; // in the order to do them, project by project
	size_t count, room;
	size_t pruned;            // files that were pruned for what upstream has
	size_t projects, unknown; // that were looked up; whose look-up failed
};

struct upstream_diff_options {
	bool yanks;                                                                // find steps for yanks too
	void (*progress)(void *ctx, uint64_t done, uint64_t all, uint64_t failed); // NULL: none
	void *ctx;
};

// A file with a tombstone of a prune that a view has is listed again; pins_sync() is called before. store is borrowed by
// *out. Errors of catalog.h. *out is to be released in any case.
int upstream_diff_find(const struct store *store, struct catalog *c, struct upstream *u,
	const struct upstream_diff_options *o, struct upstream_diff *out, struct err *e) MUST_CHECK;
void upstream_diff_release(struct upstream_diff *f);
