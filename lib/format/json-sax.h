// SPDX-License-Identifier: Apache-2.0
// A walk over a JSON document (RFC 8259), by yajl: each value is told in its turn, and none is made. For documents of
// other people's that are large; those that we make, or look things up in, are jsondoc's. Thread-safe.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "lib/base/arena.h"
#include "lib/base/err.h"
#include "lib/base/str.h"

enum jsonwalk_kind {
	JSONWALK_STRING,
	JSONWALK_NUMBER,
	JSONWALK_TRUE,
	JSONWALK_FALSE,
	JSONWALK_NULL,
	JSONWALK_OBJECT, // begins; what is in it comes next
	JSONWALK_ARRAY,  // the same
	JSONWALK_OBJECT_END,
	JSONWALK_ARRAY_END,
};

enum { JSONWALK_DEPTH = 8 };

struct jsonwalk_value {
	enum jsonwalk_kind kind;
	size_t depth;    // how many objects and arrays it is in; what lies deeper than JSONWALK_DEPTH is not told
	const struct str *key; // its keys, one for each of them from the outermost on; ptr is NULL where that is an array
	// A number as it is written; a string's bytes without its escapes, UTF-8 but for what those may say: NUL, and halves
	// of surrogate pairs.
	struct str text;
};

// Borrowed: the value and its array of keys until this returns, all bytes for as long as the text and the room last.
typedef void jsonwalk_fn(void *ctx, const struct jsonwalk_value *value);

// room: for strings with escapes. ERR_INVALID where the text is no JSON; *is_cut says then whether it is only the
// beginning of a document.
int jsonwalk(struct str text, struct arena *room, jsonwalk_fn *fn, void *ctx, bool *is_cut, struct err *e) MUST_CHECK;
