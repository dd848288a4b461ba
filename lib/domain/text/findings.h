// SPDX-License-Identifier: Apache-2.0
// The list of oddities of one file, each a line of text. Lenient examination accepts the file despite them. The caller
// owns the list. One thread at a time.
#pragma once

#include <stdbool.h>

#include "lib/base/buf.h"
#include "lib/base/err.h"

enum strictness {
	LENIENT, // a file of an existing tree: accepted if it can be installed; oddities become findings
	STRICT,  // an upload: it is rejected if PyPI would reject it
};

struct findings {
	unsigned count;
	struct buf text; // the lines; once LIMIT_FINDINGS is reached, further ones are only counted
};

void findings_init(struct findings *f);
void findings_release(struct findings *f);
// Whether the text is full. A loop over lines stops then: a few kilobytes of a packed RECORD can hold a million bad
// lines.
bool findings_are_full(const struct findings *f);
void findings_add(struct findings *f, const char *fmt, ...) PRINTF_LIKE(2, 3);
// For oddities that only an upload must not have. STRICT: ERR_INVALID and -1. LENIENT: adds a finding and returns 0.
int findings_add_or_fail(struct findings *f, enum strictness strictness, struct err *e, const char *fmt, ...)
	PRINTF_LIKE(4, 5) MUST_CHECK;
