// SPDX-License-Identifier: Apache-2.0
// Reads lock files (lock.h). Pure, but for the file; any thread.
#pragma once

#include "lib/base/err.h"
#include "lib/domain/lock/lock.h"

// Reads a lock file. ERR_INVALID, with "path:line: ": it is no lock of a kind and version that is known, or names what
// is no project, version, file or marker; ERR_LIMIT likewise: LIMIT_LOCK, LIMIT_LOCK_PACKAGES, LIMIT_LOCK_FILES, and
// those of TOML. ERR_NOT_FOUND, ERR_IO: it cannot be read. To be released in any case.
int lock_read(const char *path, struct lock *out, struct err *e) MUST_CHECK;
// The same of a text, which it takes over from *text.
int lock_parse(struct buf *text, const char *path, struct lock *out, struct err *e) MUST_CHECK;
