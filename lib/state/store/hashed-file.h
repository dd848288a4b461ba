// SPDX-License-Identifier: Apache-2.0
// Opens a file of the store if it still is the one that the catalog has the SHA-256 of. Any thread.
#pragma once

#include <stdint.h>
#include <sys/stat.h>

#include "lib/base/err.h"
#include "lib/state/store/store.h"

// The state of a file when its bytes were hashed.
struct hashed_state {
	uint64_t size;
	int64_t mtime_ns;
	uint64_t inode;
};

// Returns the descriptor, which the caller closes, and fills *st. path is below the platform. ERR_BUSY: the file is
// another one now; errors of store_open_file.
int hashed_file_open(const struct platform *p, const char *path, const struct hashed_state *known, struct stat *st,
	struct err *e) MUST_CHECK;
