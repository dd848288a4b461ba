// SPDX-License-Identifier: Apache-2.0
// Blanks as Python's str.strip() and \s see them, which PEP 440's reference parser lets stand around versions
// and specifiers: not ASCII's alone. Pure; thread-safe.
#pragma once

#include "lib/base/str.h"

// Cuts them off both ends.
struct str space_trim(struct str s);
