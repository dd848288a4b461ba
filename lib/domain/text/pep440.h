// SPDX-License-Identifier: Apache-2.0
// The grammar of versions: PEP 440, appendix B. Says what stands where; what it means is version's
// and specifier's. Owns nothing. Pure; thread-safe.
#pragma once

#include <stdbool.h>

#include "lib/base/str.h"

// In the order of PEP 440. The other suffixes have one kind only.
enum pep440_kind { PEP440_ABSENT, PEP440_A, PEP440_B, PEP440_RC, PEP440_POST, PEP440_DEV };

struct pep440_suffix {
	enum pep440_kind kind;
	struct str number; // may be empty, which means 0
};

// Slices of the text. Numbers are digits as they are spelled: of any length, with leading zeros.
struct pep440 {
	struct str epoch; // empty: there is none
	struct str release;
	struct pep440_suffix pre, post, dev;
	struct str local; // behind the "+"; empty: there is none
};

// Whether the text is a version from its first byte to its last, without blanks around it.
bool pep440_scan(struct str text, struct pep440 *out);
// Cuts the first segment, up to a separator, off a local part that was scanned.
struct str pep440_take_segment(struct str *local);
// A number as it is compared: nothing is 0.
struct str pep440_strip_zeros(struct str digits);
