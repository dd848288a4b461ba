// SPDX-License-Identifier: Apache-2.0
// A walk over a JSON document (RFC 8259), by yajl: each value is told in its turn, and none is made. For documents of
// other people's that are large; those that we make, or look things up in, are jsondoc's. Thread-safe.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "lib/base/arena.h"
#include "lib/base/err.h"
#include "lib/base/str.h"

enum json_sax_kind {
	JSON_SAX_STRING,
	JSON_SAX_NUMBER,
	JSON_SAX_TRUE,
	JSON_SAX_FALSE,
	JSON_SAX_NULL,
	JSON_SAX_OBJECT, // begins; what is in it comes next
	JSON_SAX_ARRAY,  // the same
	JSON_SAX_OBJECT_END,
	JSON_SAX_ARRAY_END,
};

enum { JSON_SAX_DEPTH = 8 };

struct json_sax_value {
	enum json_sax_kind kind;
	size_t depth; // how many objects and arrays it is in; what lies deeper than JSON_SAX_DEPTH is not told
	const struct str
		*key; // its keys, one for each of them from the outermost on; ptr is NULL where that is an array
	// A number as it is written; a string's bytes without its escapes, UTF-8 but for what those may say: NUL, and halves
	// of surrogate pairs.
	struct str text;
};

// Borrowed: the value and its array of keys until this returns, all bytes for as long as the text and the room last.
typedef void json_sax_fn(void *ctx, const struct json_sax_value *value);

// room: for strings with escapes. ERR_INVALID where the text is no JSON; *is_cut says then whether it is only the
// beginning of a document.
int jsonwalk(struct str text, struct arena *room, json_sax_fn *fn, void *ctx, bool *is_cut, struct err *e) MUST_CHECK;
