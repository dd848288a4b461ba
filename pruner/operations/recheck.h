// SPDX-License-Identifier: Apache-2.0
// Whether upstream still justifies that a file was pruned, before its bytes are deleted or after. It decides from its
// arguments alone. Doubt is RECHECK_UNKNOWN. Any thread, but a replacement is for one thread at a time.
#pragma once

#include "lib/base/buf.h"
#include "lib/install/replacement.h"
#include "lib/state/store/store.h"
#include "lib/state/store/tombstone.h"

struct upstream_answer;

enum recheck_result {
	RECHECK_HOLDS,
	RECHECK_UNKNOWN,  // upstream gave no answer, or the tombstone says too little
	RECHECK_YANKED,   // upstream has yanked its file
	RECHECK_GONE,     // upstream no longer has its file, or has other bytes under the name
	RECHECK_NARROWER, // upstream has its file, but some environment of the platform has no replacement
	RECHECK_COUNT,
};

// A pruned file. Borrowed.
struct recheck_file {
	const char *filename;
	const struct tombstone *tombstone;
	bool has_bytes;              // its bytes are there, and requires_python is known
	const char *requires_python; // NULL: none
};

// Whether the file was pruned for what upstream has. False for the other reasons: a retired platform, an unusable or
// corrupt file, a file on no list.
bool recheck_is_due_to_upstream(const struct tombstone *t);
// replacement: of the answer's page (replacement_new); NULL where it has none. Appends to words why it does not hold. A file
// that was not pruned for what upstream has is RECHECK_HOLDS.
enum recheck_result recheck_tombstone(const struct platform *platform, const struct recheck_file *file,
	const struct upstream_answer *answer, struct replacement *replacement, struct buf *words);
