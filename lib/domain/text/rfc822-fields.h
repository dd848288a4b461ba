// SPDX-License-Identifier: Apache-2.0
// Parses the "Name: value" lines of METADATA, PKG-INFO and WHEEL: RFC 822, as Python's email package reads it with its
// compat32 policy. Results are slices of the text. Pure functions; any thread.
#pragma once

#include <stdbool.h>

#include "lib/base/str.h"

struct rfc822_field {
	struct str name;
	struct str value; // without leading blanks and the final line end; a folded value keeps its inner line ends
};

// Cuts the next field off *rest. False at the end of the header; then *rest is the body.
bool rfc822_fields_next(struct str *rest, struct rfc822_field *out);
// The value of the first field of this name, in any ASCII case. False if there is none.
bool rfc822_fields_first(struct str text, struct str name, struct str *value);
