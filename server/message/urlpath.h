// SPDX-License-Identifier: Apache-2.0
// Parses the path of a request into decoded segments, none of which can lead to another folder. Pure functions; any
// thread.
#pragma once

#include <stdbool.h>

#include "lib/base/limits.h"
#include "lib/base/str.h"

enum { URLPATH_SEGMENTS = 6 };

// Segments are slices of bytes. Each is followed by a NUL and contains none.
struct urlpath {
	struct str segment[URLPATH_SEGMENTS];
	size_t count;            // 0: "/"
	bool has_trailing_slash; // "/simple/": one segment and this; "/": none and this
	char bytes[LIMIT_PATH + 1];
};

enum urlpath_result {
	URLPATH_GOOD,
	URLPATH_MALFORMED, // 400: bad %XX, a control character, not UTF-8
	URLPATH_UNKNOWN,   // 404: no path of this server: ".", "..", an empty segment, "/" or "\" encoded,
			   // too long, too deep
};

// Decodes %XX once; out gets a NUL at the end. False where the text is malformed, has a control character or does not
// fit.
bool urlpath_decode(struct str raw, char *out, size_t room);
// raw: the path as sent, encoded, without the query. "+" stays "+".
enum urlpath_result urlpath_parse(struct str raw, struct urlpath *out);
