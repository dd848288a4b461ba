// SPDX-License-Identifier: Apache-2.0
// Text inside of other text: what a string becomes in JSON, HTML and URLs. Each adds to out; what goes in
// may be any bytes, what comes out is always well-formed. Pure; thread-safe.
#pragma once

#include "lib/base/buf.h"

// A JSON string with its quotes (RFC 8259 section 7). In bytes that are not UTF-8, all but ASCII becomes U+FFFD.
void escape_json(struct buf *out, struct str s);
// Text of an element, or of an attribute in double quotes. Control characters, which HTML forbids, become
// U+FFFD too.
void escape_html(struct buf *out, struct str s);
// One segment of a URL's path: all but RFC 3986's unreserved characters as %XX.
void escape_url(struct buf *out, struct str s);
// What is a part of a URL already: what no URL may hold (blanks, controls, bytes beyond ASCII) as %XX.
void escape_reference(struct buf *out, struct str s);
