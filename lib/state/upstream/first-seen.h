// SPDX-License-Identifier: Apache-2.0
// When a file that a page has without an upload time was first seen here. It outlives the catalog: a record for each
// project, FOLDER/seen/PROJECT (lib/place/record.h), with a line of 36 bytes for each file, "KEY SECONDS". KEY is the
// beginning of a hash of the upstream's name, the file's name and its SHA-256: other bytes are another file. Any thread; any
// number of processes: of two that write at the same time both saw the files just now.
#pragma once

#include <stdint.h>

#include "lib/base/err.h"

struct simplepage;

// Sets `seen` of each file without an upload time. What was not seen before was seen at `at` (seconds since 1970), and is
// recorded. A record that cannot be read or written is an error, and `seen` is `at` nevertheless. ERR_IO, ERR_FULL,
// ERR_LIMIT (LIMIT_FIRST_SEEN).
int first_seen_fill(const char *folder, const char *upstream, struct simplepage *page, int64_t at,
	struct err *e) MUST_CHECK;
