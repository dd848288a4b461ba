// SPDX-License-Identifier: Apache-2.0
// Lock files that stay in memory while they are unchanged: a server reads the same ones for each page that is about
// what branches want. The last used ones stay, of all threads together up to LIMIT_LOCKS_KEPT bytes of memory. Each
// look asks the file system; a file that changed within the last two seconds is read again, because its next change may
// not show.
#pragma once

#include "lib/base/err.h"
#include "lib/domain/lock/lock.h"

struct lock_memo {
	struct lock lock; // constant
	uint8_t sha256[SHA256_SIZE]; // of the file,
	uint64_t bytes;              // and its size
};

// The lock as its file is now, with a reference for the caller. NULL: the errors of lock_read(). Any thread.
const struct lock_memo *lock_memo_read(const char *path, struct err *e) MUST_CHECK;
void lock_memo_unref(const struct lock_memo *m); // NULL is fine
