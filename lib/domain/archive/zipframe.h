// SPDX-License-Identifier: Apache-2.0
// ZIP framing: proves that a file is one chain of records from byte 0 to its last, and that a
// reader who begins at the front finds the same members as one who begins at the end. Thread-safe.
//
// What clients read differently is refused under both strictnesses: duplicates, bytes before,
// between or behind the records, headers that contradict each other, truncation. LENIENT takes what
// pip and uv install, and records it: data descriptors (PyPI had them before 2025-10), comments of
// members, any rate of compression.
#pragma once

#include "lib/domain/archive/zipdirectory.h"

// Walks all records of s. out is the members, as the central directory orders them, to be released
// with zipdirectory_release(). ERR_INVALID with PyPI's words in front, ERR_LIMIT, ERR_IO; then
// nothing is to release.
int zipframe_read(const struct byte_source *s, enum strictness strictness, struct findings *findings,
	struct zipdirectory *out, struct err *e) MUST_CHECK;
