// SPDX-License-Identifier: Apache-2.0
// ZIP framing: proves that a file is one chain of records from its first byte to its last, and that a reader that
// begins at the front finds the same members as one that begins at the end. Any thread.
//
// Both strictnesses reject whatever clients read differently: duplicates, bytes before, between or after the records,
// headers that contradict each other, truncation. LENIENT accepts what pip and uv install, and adds a finding: data
// descriptors (PyPI accepted them before 2025-10), comments of members, any compression ratio.
#pragma once

#include "lib/domain/archive/zipdirectory.h"

// Walks all records of s. *out has the members in the order of the central directory; the caller releases it with
// zipdirectory_release(). Errors as zipdirectory_read(); then nothing is to be released.
int zipframe_read(const struct byte_source *s, enum strictness strictness, struct findings *findings,
	struct zipdirectory *out, struct err *e) MUST_CHECK;
