// SPDX-License-Identifier: Apache-2.0
// What is to be done since upstream changed: files that were pruned for what upstream had and has no more, and yanks of
// upstream's. Asks upstream about every project that has listed or pruned files; writes nothing but what it learned of
// upstream. What upstream does not answer changes nothing.
#pragma once

#include <stdbool.h>

#include "lib/state/catalog/catalog.h"
#include "lib/state/store/store.h"
#include "lib/state/upstream/upstream.h"

enum following_kind {
	FOLLOWING_RELIST, // nothing justifies any more that it was pruned, and its bytes are there
	FOLLOWING_LOST,   // the same, and its bytes are gone
	FOLLOWING_YANK,   // all of upstream's files of its release are yanked
	FOLLOWING_UNYANK, // it was yanked for that, and not all are any more
	FOLLOWING_COUNT,
};

struct following_step {
	enum following_kind kind;
	const struct platform *platform; // the store's
	char *filename, *project;
	char *folder; // of one that was pruned: the tombstone's, below the platform
	char *reason; // in words, one line
	char *text;   // of a yank: what its mark is to say
	bool has_sha256;
	uint8_t sha256[SHA256_SIZE]; // of the pruned bytes
};

struct following {
	struct following_step *step; // of one project after the other; in the order in which they are to be done
	size_t count, room;
	size_t pruned;             // files that upstream justifies
	size_t projects, unknown;  // asked about; without an answer
};

struct following_options {
	bool yanks; // follow those too
	void (*progress)(void *ctx, uint64_t done, uint64_t all, uint64_t failed); // NULL: nobody wants to know
	void *ctx;
};

// To be released whatever it returned.
int following_find(const struct store *store, struct catalog *c, struct upstream *u, const struct following_options *o,
	struct following *out, struct err *e) MUST_CHECK;
void following_release(struct following *f);
