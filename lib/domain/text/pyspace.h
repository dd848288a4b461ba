// SPDX-License-Identifier: Apache-2.0
// Blanks as Python's str.strip() and \s define them, in UTF-8 text. They include some beyond ASCII, and PEP 440's
// reference parser allows them around versions and specifiers. Pure functions; any thread.
#pragma once

#include <stdbool.h>

#include "lib/base/str.h"

// Cuts blanks off both ends.
struct str pyspace_trim(struct str s);
// Whether the text has a blank anywhere.
bool pyspace_is_in(struct str s);
