// SPDX-License-Identifier: Apache-2.0
// Project names: PEP 503 and PEP 508. Pure functions; any thread.
#pragma once

#include <stdbool.h>

#include "lib/base/str.h"

struct buf;

// Whether the name has only ASCII letters, digits, ".", "-" and "_", and begins and ends with a letter or digit.
bool name_is_valid(struct str name);
// Whether the name is in normal form: lower case, and each separator a single "-". It does not check validity.
bool name_is_normal(struct str name);
// Appends the normal form to out: lower case (ASCII), each run of "-", "_" and "." as one "-".
void name_normalize(struct str name, struct buf *out);
