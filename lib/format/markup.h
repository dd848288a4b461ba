// SPDX-License-Identifier: Apache-2.0
// Reads XML 1.0 and HTML with libxml2 as a sequence of events, without building a tree. Any thread.
#pragma once

#include "lib/base/err.h"
#include "lib/base/str.h"

// Callbacks. Strings are borrowed for the call and are UTF-8. Names of XML are as written, with their prefix; those of
// HTML are in lower case.
struct markup_handler {
	// attributes: alternating names and values with NULL at the end, for markup_attribute().
	void (*begin)(void *ctx, const char *name, const char *const *attributes);
	void (*end)(void *ctx, const char *name);
	void (*text)(void *ctx, struct str text); // the text of an element may come in several pieces; NULL: not wanted
	void (*comment)(void *ctx, struct str text); // of HTML; NULL: not wanted
};

// A document with a DTD is rejected, so that it has no entities of its own and reads nothing else. ERR_INVALID: the
// bytes are not a whole well-formed document, or have a DTD; the message has the line. ERR_LIMIT: elements are nested
// deeper than LIMIT_XML_DEPTH, or there are more than LIMIT_XML_ATTRIBUTES or LIMIT_XML_NAMES. The handler is called
// for what stands before the mistake.
int markup_read_xml(struct str bytes, const struct markup_handler *handler, void *ctx, struct err *e) MUST_CHECK;
// ERR_INVALID if the bytes are empty, not UTF-8 or contain NUL; ERR_LIMIT if elements are nested deeper than
// LIMIT_HTML_DEPTH. Anything else is accepted as HTML; mistakes in it are repaired about as browsers do.
int markup_read_html(struct str bytes, const struct markup_handler *handler, void *ctx, struct err *e) MUST_CHECK;
// The value of an attribute, borrowed; "" if it has none. NULL if the element has no such attribute.
const char *markup_attribute(const char *const *attributes, const char *name);
