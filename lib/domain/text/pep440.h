// SPDX-License-Identifier: Apache-2.0
// The grammar of versions (PEP 440, appendix B): splits a version into its parts. version and specifier interpret them.
// Pure functions; any thread.
#pragma once

#include <stdbool.h>

#include "lib/base/str.h"

// A, B and RC, in this order, are the kinds of pre-releases.
enum pep440_kind { PEP440_ABSENT, PEP440_A, PEP440_B, PEP440_RC, PEP440_POST, PEP440_DEV };

struct pep440_suffix {
	enum pep440_kind kind;
	struct str number; // empty means 0
};

// The parts are slices of the text. Numbers are digits as spelled: of any length, with leading zeros.
struct pep440 {
	struct str epoch; // empty: none
	struct str release;
	struct pep440_suffix pre, post, dev;
	struct str local; // after the "+"; empty: none
};

// Whether the whole text is a version. Blanks around it are not allowed. If false, *out is undefined.
bool pep440_scan(struct str text, struct pep440 *out);
// Cuts the first segment, up to a separator, off a scanned local part.
struct str pep440_take_segment(struct str *local);
// Removes leading zeros, so that equal numbers are equal texts. 0 becomes empty.
struct str pep440_strip_zeros(struct str digits);
