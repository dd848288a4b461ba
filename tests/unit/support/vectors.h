// SPDX-License-Identifier: Apache-2.0
// The shared test vectors: rows of tab-separated columns, "#" begins a comment. For cmocka tests.
#pragma once

#include "lib/base/buf.h"

enum { VECTOR_COLUMNS = 16 };

struct vector {
	struct str file; // for messages
	size_t line;
	struct str column[VECTOR_COLUMNS]; // missing ones are empty
};

typedef void vectors_fn(void *ctx, const struct vector *row);

// The path of what lies below $WHEELCACHE_SHARED (default: $srcdir/../shared) or else $srcdir/tests/data, to be
// freed by the caller. Skips the test where neither has it.
char *vectors_path(const char *below);
// Calls fn for each row of vectors/<file> there, and fails the test where it has none. Skips the test where there is no
// such file.
void vectors_foreach(const char *file, vectors_fn *fn, void *ctx);
// Adds what a JSON string (RFC 8259, quotes and all) means to out, in UTF-8.
void vectors_unquote(struct str json, struct buf *out);
