// SPDX-License-Identifier: Apache-2.0
// What is odd about a file that is taken all the same (lenient examination): one line of text each.
#pragma once

#include <stdbool.h>

#include "lib/base/buf.h"
#include "lib/base/err.h"

enum strictness {
	LENIENT, // a tree that others filled: what installs is taken, oddities are recorded
	STRICT,  // an upload: what PyPI refuses is refused
};

struct findings {
	unsigned count;
	struct buf text; // lines; past its ceiling they are counted only
};

void findings_init(struct findings *f);
void findings_release(struct findings *f);
// Whether no more is told. Who finds something wrong line for line stops then: a RECORD packs a million bad lines into
// some kilobytes.
bool findings_are_full(const struct findings *f);
void findings_add(struct findings *f, const char *fmt, ...) PRINTF_LIKE(2, 3);
// What an upload must not have and a tree may: ERR_INVALID and -1 under STRICT, a finding and 0
// under LENIENT.
int findings_judge(struct findings *f, enum strictness strictness, struct err *e, const char *fmt, ...)
	PRINTF_LIKE(4, 5) MUST_CHECK;
