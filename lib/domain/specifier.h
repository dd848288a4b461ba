// SPDX-License-Identifier: Apache-2.0
// Version specifiers: PEP 440. Pure; thread-safe.
#pragma once

#include <stdbool.h>

#include "lib/base/str.h"

// Whether it is a set that packaging's SpecifierSet takes, as a Requires-Python must be: specifiers
// between commas, blanks anywhere around them. The empty set is one.
bool specifier_set_is_valid(struct str text);
