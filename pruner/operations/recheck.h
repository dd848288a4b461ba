// SPDX-License-Identifier: Apache-2.0
// Whether what upstream has now still justifies that a file of ours was pruned: before its bytes go, and after. Decides by
// what it is given, and reads nothing. Doubt is UNKNOWN.
#pragma once

#include "lib/base/buf.h"
#include "lib/domain/index/coverage.h"
#include "lib/state/store/store.h"
#include "lib/state/store/tombstone.h"

struct upstream_answer;

enum recheck_result {
	RECHECK_HOLDS,
	RECHECK_UNKNOWN,  // upstream's word is none, or nobody can tell what ours was
	RECHECK_YANKED,   // upstream has yanked its file since
	RECHECK_GONE,     // upstream has it no more, or other bytes under its name
	RECHECK_NARROWER, // upstream has it, and some environment of the platform has nothing any more
	RECHECK_COUNT,
};

// A file that was pruned.
struct recheck_file {
	const char *filename;
	const struct tombstone *tombstone;
	bool has_bytes;              // they are there: then what follows is known
	const char *requires_python; // NULL: none
};

// Whether upstream was the reason at all: a retired platform, an unusable or a corrupt file, or one that is on no list
// went for reasons of our own.
bool recheck_is_upstreams(const struct tombstone *t);
// coverage is of the answer's page (coverage_new); NULL where it has none. Why it does not hold is added to words. What is
// not upstream's to justify HOLDS.
enum recheck_result justify(const struct platform *platform, const struct recheck_file *file,
	const struct upstream_answer *answer, struct coverage *coverage, struct buf *words);
