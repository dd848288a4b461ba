// SPDX-License-Identifier: Apache-2.0
// Which form of a page a client gets: RFC 9110 section 12.5, PEP 691. Pure, without allocation; every pointer
// may be NULL: the client did not send it.
#pragma once

#include <stdbool.h>

#include "lib/view/page.h"

// A page as a client gets it: its bytes, and the type under which they are sent. Both types of HTML have the same bytes (PEP 691),
// but a client gets the one that it asked for.
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

enum { NEGOTIATE_NOTHING = -1 }; // 406: a well-formed Accept that excludes all we have

// An enum variant, or NEGOTIATE_NOTHING. format: the value of ?format=, decoded ("+" may have become a blank); one
// that we do not know is ignored.
int negotiate_variant(const char *accept, const char *format, const char *user_agent);
// PAGE_PLAIN where nothing we have is acceptable: RFC 9110 section 12.5.3 allows it, and it helps more than an error.
enum page_coding negotiate_coding(const char *accept_encoding);
// Whether a client would rather have an answer as application/json than as text.
bool negotiate_wants_json(const char *accept);
