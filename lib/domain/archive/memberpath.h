// SPDX-License-Identifier: Apache-2.0
// Paths of members as archives spell them. Pure; thread-safe.
#pragma once

#include <stdbool.h>

#include "lib/base/str.h"

// Whether unpacking it could write outside: absolute, with a drive, or with a "..", cut at "/" and
// "\" both.
bool memberpath_leads_out(struct str path);
// Without empty parts and ".": the only spelling that the path has.
bool memberpath_is_plain(struct str path);
