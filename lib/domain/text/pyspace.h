// SPDX-License-Identifier: Apache-2.0
// Blanks as Python's str.strip() and \s see them, which PEP 440's reference parser lets stand
// around versions and specifiers: not ASCII's alone. UTF-8. Pure; thread-safe.
#pragma once

#include <stdbool.h>

#include "lib/base/str.h"

// Cuts them off both ends.
struct str pyspace_trim(struct str s);
// Whether there is one anywhere.
bool pyspace_is_in(struct str s);
