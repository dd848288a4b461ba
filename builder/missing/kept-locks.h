// SPDX-License-Identifier: Apache-2.0
// The files that live lock files name by their SHA-256 ([prune] locks, and the locks of each [branch] that is not
// over), so that no command removes them: an install from a lock asks for exactly these bytes, and no other file of the
// version will do. Constant after kept_locks_read(), so any thread may read it.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "lib/base/arena.h"
#include "lib/base/err.h"
#include "lib/format/digest.h"
#include "lib/state/config/config.h"

// All zero is empty: no lock names anything.
struct kept_locks {
	struct kept_hash *hash; // sorted
	size_t count, room;
	struct arena text;
};

// Reads all locks. now: seconds since 1970. d gets what they name; NULL: none. ERR_USAGE: a pattern without a file,
// more than LIMIT_BRANCH_FILES files, or a file of [prune] locks that names no SHA-256; the errors of lock_read(). Then
// what is locked is not known, and nothing may be removed. To be released in any case.
int kept_locks_read(const struct config *c, int64_t now, struct digest *d, struct kept_locks *out, struct err *e) MUST_CHECK;
void kept_locks_release(struct kept_locks *k);
// The path of a lock that names these bytes, borrowed; NULL: none does, or sha256 is NULL.
const char *kept_locks_find(const struct kept_locks *k, const uint8_t *sha256);
#define KEPT_LOCKS_WORDS "locked by %s"
