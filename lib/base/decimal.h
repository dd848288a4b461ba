// SPDX-License-Identifier: Apache-2.0
// Decimal numbers in text: ASCII digits only, no sign, no blanks; leading zeros are allowed. Any thread.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/str.h"

// Reads the whole text. Returns false, with *out unchanged, if the text is empty, has a byte that is no digit, or is a
// number above max.
bool decimal_parse(struct str text, uint64_t max, uint64_t *out) __attribute__((warn_unused_result));
// Cuts the leading digits off *text and sets *out to their number, or to max if it is above max. Returns false, with
// *out 0, if the text does not begin with a digit.
bool decimal_cut(struct str *text, uint64_t max, uint64_t *out);
