// SPDX-License-Identifier: Apache-2.0
// Reads the shared test vectors for cmocka tests: rows of tab-separated columns; "#" begins a comment.
#pragma once

#include "lib/base/buf.h"

enum { VECTOR_COLUMNS = 16 };

struct vector {
	struct str file; // for messages
	size_t line;
	struct str column[VECTOR_COLUMNS]; // borrowed for the call; missing ones are empty
};

typedef void vectors_fn(void *ctx, const struct vector *row);

// The path of a file or folder below $WHEELCACHE_SHARED (default: $srcdir/../shared) or, if it is not there, below
// $srcdir/tests/data. The caller frees it. Skips the test if neither has it.
char *vectors_path(const char *below);
// Calls fn for each row of vectors/<file> there. Fails the test if it has no row, skips it if there is no such file.
void vectors_foreach(const char *file, vectors_fn *fn, void *ctx);
// Decodes a JSON string (RFC 8259), given with its quotes, and adds it to out as UTF-8.
void vectors_unquote(struct str json, struct buf *out);
