// SPDX-License-Identifier: Apache-2.0
// Which bytes may stand where as they are: asked of nearly every byte of every page, so of a table. Pure; thread-safe.
#pragma once

#include "lib/base/str.h"

// Sets of bytes, to be combined: then those that are in all of them.
enum charclass {
	CHARCLASS_ASCII = 1,
	CHARCLASS_GRAPHIC = 2,     // of ASCII: no control, no blank
	CHARCLASS_NAME = 4,        // of GRAPHIC, in a file's name: no slash
	CHARCLASS_URL = 8,         // of GRAPHIC, in a URL (RFC 3986, appendix A)
	CHARCLASS_UNRESERVED = 16, // of those, wherever it is there (section 2.3)
	CHARCLASS_JSON = 32,       // in a string of JSON (RFC 8259, section 7), but for DEL
	CHARCLASS_HTML = 64,       // in text and attributes of HTML
};

// How many bytes at the start of s are in these sets.
size_t charclass_run(struct str s, unsigned sets);
