// SPDX-License-Identifier: Apache-2.0
// [view NAME] expect: within which time records of a kind of evidence are expected again and again. Pure; any thread.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "lib/base/arena.h"
#include "lib/base/err.h"
#include "lib/base/limits.h"

struct expectation {
	const char *kind;
	int64_t seconds; // more than 0
};

struct expectations {
	struct expectation item[LIMIT_EXPECTATIONS]; // in the order of the key
	size_t count;
	struct arena text;
};

// "26h integration 8d performance": times and kinds in turns, with blanks between; NULL: none. ERR_USAGE names the word
// that is wrong, or the kind that stands there twice. The caller releases *out if this returns 0.
int expectations_read(const char *text, struct expectations *out, struct err *e) MUST_CHECK;
void expectations_release(struct expectations *x); // for CLEANUP
