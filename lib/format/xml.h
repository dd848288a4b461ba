// SPDX-License-Identifier: Apache-2.0
// Reads XML 1.0 with libxml2 as a sequence of events, without building a tree. A document with a DTD is rejected, so
// that it has no entities of its own and reads nothing else. Any thread.
#pragma once

#include "lib/base/err.h"
#include "lib/base/str.h"

// Callbacks. Strings are borrowed for the call and are UTF-8. Names are as written, with their prefix.
struct xml_handler {
	// attributes: alternating names and values with NULL at the end, for xml_attribute().
	void (*begin)(void *ctx, const char *name, const char *const *attributes);
	void (*end)(void *ctx, const char *name);
	void (*text)(void *ctx, struct str text); // the text of an element may come in several pieces; NULL: not wanted
};

// ERR_INVALID: the bytes are not a whole well-formed document, or have a DTD; the message has the line. ERR_LIMIT:
// elements are nested deeper than LIMIT_XML_DEPTH, or there are more than LIMIT_XML_ATTRIBUTES or LIMIT_XML_NAMES. The
// handler is called for what stands before the mistake.
int xml_read(struct str bytes, const struct xml_handler *handler, void *ctx, struct err *e) MUST_CHECK;
// The value of an attribute, borrowed; NULL if the element has no such attribute.
const char *xml_attribute(const char *const *attributes, const char *name);
