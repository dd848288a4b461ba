// SPDX-License-Identifier: Apache-2.0
// Content negotiation: which form of a page a client gets (RFC 9110 section 12.5, PEP 691). Pure functions without
// allocation; any thread. A header is NULL where the client did not send it.
#pragma once

#include <stdbool.h>

#include "lib/view/page.h"

// A page's bytes with their Content-Type. Both types of HTML have the same bytes (PEP 691), but a client gets the type
// that it asked for.
enum variant {
	VARIANT_HTML,
	VARIANT_V1_HTML,
	VARIANT_V1_JSON,
	VARIANT_HTML_OLD_PIP,
	VARIANT_V1_HTML_OLD_PIP,
	VARIANT_COUNT
};
extern const struct variant_row {
	enum page_format format;
	const char *type; // Content-Type
} variant_row[VARIANT_COUNT];

enum { NEGOTIATE_NOTHING = -1 }; // 406: a well-formed Accept that excludes all variants

// Returns an enum variant, or NEGOTIATE_NOTHING. format: the value of ?format=, decoded ("+" may have become a blank).
// An unknown format is ignored.
int negotiate_variant(const char *accept, const char *format, const char *user_agent);
// PAGE_PLAIN where no coding is acceptable: RFC 9110 section 12.5.3 allows it, and clients can use it, unlike an error.
enum page_coding negotiate_coding(const char *accept_encoding);
// Whether a client prefers application/json to text/plain.
bool negotiate_wants_json(const char *accept);
// Whether a client wants the JSON of a page that has JSON and HTML: ?format=json or ?format=html, else what Accept
// prefers; HTML where it does not say.
bool negotiate_page_json(const char *accept, const char *format);
// The other way about, for what is data first: the page only for ?format=html, or where Accept prefers HTML.
bool negotiate_data_html(const char *accept, const char *format);
