// SPDX-License-Identifier: Apache-2.0
// Versions of libraries, which follow no standard: "3.0.15", "1.1.1w", "2.41-12.el8", "14.2.0-r6", "3.0.0-beta1". Pure
// functions; any text; any thread.
#pragma once

#include "lib/base/str.h"

// < 0, 0 or > 0. Numbers are compared as numbers, and 3.0 is 3.0.0. Letters behind a number are a later patch (1.1.1w
// is after 1.1.1k and 1.1.1), but alpha, beta, pre, rc, dev and "~" come before the version itself. What stands behind
// "+" does not count.
int library_version_compare(struct str a, struct str b);
// The part that the library's authors gave: without a distribution's epoch ("1:") and revision ("-12.el8").
struct str library_version_upstream(struct str version);
