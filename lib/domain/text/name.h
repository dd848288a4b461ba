// SPDX-License-Identifier: Apache-2.0
// Project names: PEP 503 and PEP 508. Pure; thread-safe.
#pragma once

#include <stdbool.h>

#include "lib/base/str.h"

struct buf;

// ASCII letters, digits, "." "-" "_", a letter or digit first and last.
bool name_is_valid(struct str name);
// In its normal form already: lower case, no run of "-_." other than a single "-". Says nothing of
// validity.
bool name_is_normal(struct str name);
// Adds the normal form to out: lower case (ASCII), each run of "-_." as one "-".
void name_normalize(struct str name, struct buf *out);
