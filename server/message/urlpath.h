// SPDX-License-Identifier: Apache-2.0
// The path of a request, taken apart: decoded once, and nothing in it that could name a thing elsewhere. Pure.
#pragma once

#include <stdbool.h>

#include "lib/base/limits.h"
#include "lib/base/str.h"

enum { URLPATH_SEGMENTS = 6 };

// Segments are slices of bytes, each with a NUL behind it and none inside.
struct urlpath {
	struct str segment[URLPATH_SEGMENTS];
	size_t count;            // 0: "/"
	bool has_trailing_slash; // "/simple/": one segment and this; "/": none and this
	char bytes[LIMIT_PATH + 1];
};

enum urlpath_result {
	URLPATH_GOOD,
	URLPATH_MALFORMED, // 400: bad %XX, a control character, not UTF-8
	URLPATH_UNKNOWN,   // 404: well-formed, but nothing of ours: ".", "..", an empty segment, "/" or "\" encoded,
			   // too long, too deep
};

// Decodes %XX of any text once; out gets a NUL at the end. False where it is malformed, holds a control character or
// does not fit.
bool urlpath_decode(struct str raw, char *out, size_t room);
// raw is the path as it came: still encoded, without the query. "+" is itself.
enum urlpath_result urlpath_parse(struct str raw, struct urlpath *out);
