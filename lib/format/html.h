// SPDX-License-Identifier: Apache-2.0
// HTML as others write it, read by libxml2 as a row of events: no tree is built.
#pragma once

#include "lib/base/err.h"
#include "lib/base/str.h"

// Strings are borrowed for the call, in UTF-8, names in lower case.
struct html_handler {
	// attributes: names and values by turns, NULL at the end; for html_attribute().
	void (*begin)(void *ctx, const char *name, const char *const *attributes);
	void (*end)(void *ctx, const char *name);
	void (*text)(void *ctx, struct str text); // of an element or an entity: in pieces
	void (*comment)(void *ctx, struct str text);
};

// ERR_INVALID where the bytes are not UTF-8 or no text at all, ERR_LIMIT where elements lie in each other deeper than
// LIMIT_HTML_DEPTH. All else is HTML: what is wrong in it is taken as browsers do, more or less. Thread-safe.
int html_read(struct str bytes, const struct html_handler *handler, void *ctx, struct err *e) MUST_CHECK;
// The value, "" where it has none; NULL where the element has no such attribute.
const char *html_attribute(const char *const *attributes, const char *name);
