// SPDX-License-Identifier: Apache-2.0
// Version specifiers: PEP 440. Pure; thread-safe.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/str.h"
#include "lib/domain/text/version.h"

// Whether it is a set that packaging's SpecifierSet takes, as a Requires-Python must be: specifiers
// between commas, blanks anywhere around them. The empty set is one.
bool specifier_set_is_valid(struct str text);
// Whether the set admits the version, as SpecifierSet(text).contains(version, prereleases=True) has it. False of what is
// no set.
bool specifier_set_admits(struct str text, const struct version *version);

enum { SPECIFIER_MICROS = 64 };
// Which releases 3.11.0 to 3.11.63 of a Python 3.11 a Requires-Python admits: bit n stands for 3.11.n. False where it is
// no set; then *mask is not touched.
bool specifier_micros(struct str text, unsigned major, unsigned minor, uint64_t *mask);
