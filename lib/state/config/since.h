// SPDX-License-Identifier: Apache-2.0
// "Since when", as a person says it: a time, a day, or a duration that ends now. Any thread.
#pragma once

#include <stdint.h>

#include "lib/base/err.h"

// Seconds since 1970. ERR_USAGE: it is none of these.
int since_read(const char *text, int64_t *out, struct err *e) MUST_CHECK;
