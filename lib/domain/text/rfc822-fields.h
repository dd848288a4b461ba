// SPDX-License-Identifier: Apache-2.0
// "Name: value" lines as METADATA, PKG-INFO and WHEEL have them: RFC 822 as Python's email package
// reads it with its compat32 policy. Pure; thread-safe; slices of the text, nothing is copied.
#pragma once

#include <stdbool.h>

#include "lib/base/str.h"

struct rfc822_field {
	struct str name;
	struct str value; // without the blanks in front and the line end behind; a folded one keeps
			  // its inner line ends
};

// Takes the next field off *rest. false at the end of the header: *rest is the body then.
bool rfc822_fields_next(struct str *rest, struct rfc822_field *out);
// The value of the first field of this name (ASCII case does not count); false without one.
bool rfc822_fields_first(struct str text, struct str name, struct str *value);
