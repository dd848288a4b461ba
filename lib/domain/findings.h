// SPDX-License-Identifier: Apache-2.0
// What is odd about a file that is taken all the same (lenient examination): one line of text each.
#pragma once

#include <stdbool.h>

#include "lib/base/buf.h"

enum strictness {
	LENIENT, // a tree that others filled: what pip and uv install is taken, oddities are recorded
	STRICT,  // an upload: what PyPI refuses is refused
};

struct findings {
	unsigned count;
	struct buf text; // lines; past its ceiling they are counted only
};

void findings_init(struct findings *f);
void findings_release(struct findings *f);
void findings_add(struct findings *f, const char *fmt, ...) PRINTF_LIKE(2, 3);
