// SPDX-License-Identifier: Apache-2.0
// A streaming reader of JSON (RFC 8259): it hands each value to a callback and builds no tree. For large documents of
// other servers. Small ones, and those that we write, are jsondoc's.
//
// Why this is our own: yajl is dead, and no other C library of Debian 12 and 13 streams. Trees of jansson and json-c
// take 10 to 15 times as long (docs/performance.md). tests/fuzz/fuzz-json-sax.c compares every answer with jansson's.
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
	JSON_SAX_OBJECT, // begins; its members follow
	JSON_SAX_ARRAY,  // the same
	JSON_SAX_OBJECT_END,
	JSON_SAX_ARRAY_END,
};

enum { JSON_SAX_DEPTH = 8 };

struct json_sax_value {
	enum json_sax_kind kind;
	// How many objects and arrays it is in. Values deeper than JSON_SAX_DEPTH are checked, but not handed over.
	size_t depth;
	// The key in each of these, from the outermost on; ptr is NULL where that one is an array.
	const struct str *key;
	// A number as it is written; a string without its escapes, in UTF-8. It may hold NUL ("\u0000"). Half of a
	// surrogate pair becomes U+FFFD.
	struct str text;
};

// Borrowed: the value and its array of keys until the callback returns, the bytes of keys and text as long as the
// document and the room last.
typedef void json_sax_fn(void *ctx, const struct json_sax_value *value);

// Reads a whole document. Strings with escapes are decoded into room, the caller's. The nesting takes a bit per level,
// and no recursion. ERR_INVALID if text is not JSON, after calls for the values before the mistake; *is_cut is then
// whether the text is only the beginning of a document. Any thread.
int json_sax_read(struct str text, struct arena *room, json_sax_fn *fn, void *ctx, bool *is_cut,
	struct err *e) MUST_CHECK;
