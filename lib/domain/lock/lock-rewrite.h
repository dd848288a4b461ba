// SPDX-License-Identifier: Apache-2.0
// A lock file (lock.h) with other URLs, for a network that has another index than the one that the lock was made with:
// of the copy only the URLs of indexes and of files differ, byte for byte. One thread.
#pragma once

#include "lib/base/err.h"
#include "lib/domain/lock/lock.h"

// Appends the URL of a file at the new index. project: by the file's name. sha256: of the lock; NULL: it has none. An
// error gets "path:line: " in front.
typedef int lock_url_fn(void *ctx, const char *project, const char *filename, const uint8_t *sha256, struct buf *url,
	struct err *e);
struct lock_rewriting {
	const char *path;  // for messages
	const char *index; // the URL of the new index, as it is to stand in the copy
	lock_url_fn *fn;
	void *ctx;
};
struct lock_rewritten {
	enum lock_kind kind;
	size_t indexes, files; // URLs that were replaced
};

// Appends the copy to out. What a version control, a folder or a file URL is stays. The errors of lock_parse();
// ERR_INVALID, with "path:line: ": a URL that names no wheel and no sdist, or a list of links (--find-links); a URL
// that is written with escapes, so that it cannot be replaced alone; those of fn.
int lock_rewrite(struct str text, const struct lock_rewriting *how, struct buf *out, struct lock_rewritten *done,
	struct err *e) MUST_CHECK;
