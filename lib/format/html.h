// SPDX-License-Identifier: Apache-2.0
// Reads HTML with libxml2 as a sequence of events, without building a tree. Any thread.
#pragma once

#include "lib/base/err.h"
#include "lib/base/str.h"

// Callbacks. Strings are borrowed for the call and are UTF-8; names are in lower case.
struct html_handler {
	// attributes: alternating names and values with NULL at the end, for html_attribute().
	void (*begin)(void *ctx, const char *name, const char *const *attributes);
	void (*end)(void *ctx, const char *name);
	void (*text)(void *ctx, struct str text); // the text of an element may come in several pieces
	void (*comment)(void *ctx, struct str text);
};

// ERR_INVALID if the bytes are empty, not UTF-8 or contain NUL; ERR_LIMIT if elements are nested deeper than
// LIMIT_HTML_DEPTH. Anything else is accepted as HTML; mistakes in it are repaired about as browsers do.
int html_read(struct str bytes, const struct html_handler *handler, void *ctx, struct err *e) MUST_CHECK;
// The value of an attribute, borrowed; "" if it has none. NULL if the element has no such attribute.
const char *html_attribute(const char *const *attributes, const char *name);
