// SPDX-License-Identifier: Apache-2.0
// Classes of bytes: which of them a format holds without escaping. A table, since nearly every byte of every page is
// looked up. Any thread.
#pragma once

#include "lib/base/str.h"

// Sets of bytes. A combination with | means their intersection.
enum charclass {
	CHARCLASS_ASCII = 1,
	CHARCLASS_GRAPHIC = 2,     // ASCII without control characters and blanks
	CHARCLASS_NAME = 4,        // GRAPHIC without slash and backslash: file names
	CHARCLASS_URL = 8,         // GRAPHIC that may stand in a URL (RFC 3986, appendix A)
	CHARCLASS_UNRESERVED = 16, // URL characters that mean the same in every part of it (section 2.3)
	CHARCLASS_JSON = 32,       // bytes of a JSON string that need no escape (RFC 8259, section 7), without DEL
	CHARCLASS_HTML = 64,       // bytes of HTML text and attributes that need no escape
	CHARCLASS_TOKEN = 128,     // bytes of the name of an HTTP header (RFC 9110, section 5.6.2)
};

// Returns how many bytes at the start of s are in all these sets.
size_t charclass_run(struct str s, unsigned sets);

// Returns the length of the first character of s if foreign text with it could command a terminal or show other words
// than it has: the control characters (U+0000 to U+001F, U+007F to U+009F), the separators of lines and paragraphs
// (U+2028, U+2029), and the controls of the direction of text (Bidi_Control of Unicode). Otherwise 0. s is not empty.
size_t charclass_unshowable(struct str s);
