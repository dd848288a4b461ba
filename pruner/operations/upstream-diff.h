// SPDX-License-Identifier: Apache-2.0
// What is to be done since upstream changed: files that were pruned for what upstream had and has no more, and yanks of
// upstream's. Asks upstream about every project that has listed or pruned files; writes nothing but what it learned of
// upstream. What upstream does not answer changes nothing.
#pragma once

#include <stdbool.h>

#include "lib/state/catalog/catalog.h"
#include "lib/state/store/store.h"
#include "lib/state/upstream/upstream.h"

enum upstream_diff_kind {
	UPSTREAM_DIFF_RELIST, // nothing justifies any more that it was pruned, and its bytes are there
	UPSTREAM_DIFF_LOST,   // the same, and its bytes are gone
	UPSTREAM_DIFF_YANK,   // all of upstream's files of its release are yanked
	UPSTREAM_DIFF_UNYANK, // it was yanked for that, and not all are any more
	UPSTREAM_DIFF_COUNT,
};

struct upstream_diff_step {
	enum upstream_diff_kind kind;
	const struct platform *platform; // the store's
	char *filename, *project;
	char *folder; // of one that was pruned: the tombstone's, below the platform
	char *reason; // in words, one line
	char *text;   // of a yank: what its mark is to say
	bool has_sha256;
	uint8_t sha256[SHA256_SIZE]; // of the pruned bytes
};

struct upstream_diff {
	struct upstream_diff_step *step; // of one project after the other; in the order in which they are to be done
	size_t count, room;
	size_t pruned;            // files that upstream justifies
	size_t projects, unknown; // asked about; without an answer
};

struct upstream_diff_options {
	bool yanks;                                                                // follow those too
	void (*progress)(void *ctx, uint64_t done, uint64_t all, uint64_t failed); // NULL: nobody wants to know
	void *ctx;
};

// To be released whatever it returned.
int upstream_diff_find(const struct store *store, struct catalog *c, struct upstream *u,
	const struct upstream_diff_options *o, struct upstream_diff *out, struct err *e) MUST_CHECK;
void upstream_diff_release(struct upstream_diff *f);
