// SPDX-License-Identifier: Apache-2.0
// Escaping for JSON, HTML, terminals and URLs. Each function adds to out. The input may be any bytes; the output is
// well-formed. Any thread.
#pragma once

#include "lib/base/buf.h"

// Adds a JSON string with its quotes (RFC 8259, section 7). If s is not UTF-8, all bytes that are not ASCII become
// U+FFFD.
void escape_json(struct buf *out, struct str s);
// Adds the text of an element, or of an attribute in double quotes. The same holds for bytes that are not UTF-8.
// Control characters, which HTML forbids, become U+FFFD too, and so do the controls of direction, with which a text
// could show another one.
void escape_html(struct buf *out, struct str s);
// Adds one line for a terminal: each character that could command it or disorder the line (charclass_unshowable())
// becomes "?".
void escape_terminal(struct buf *out, struct str s);
// The same for a line that is printed; a line feed is added.
void escape_terminal_line(struct buf *out, const char *fmt, ...) PRINTF_LIKE(2, 3);
// The same for text of several lines: line feeds and tabs remain.
void escape_terminal_text(struct buf *out, struct str s);
// Adds one segment of a URL's path: all characters except the unreserved ones of RFC 3986 become %XX.
void escape_url(struct buf *out, struct str s);
// Adds a part of a URL: bytes that no URL may hold (blanks, control characters, non-ASCII) become %XX.
void escape_reference(struct buf *out, struct str s);
