// SPDX-License-Identifier: Apache-2.0
// Compares the METADATA of two wheels: fields as sets, by meaning. Pure functions; any thread.
#pragma once

#include "auditor/compare/diff-rows.h"
#include "lib/base/arena.h"
#include "lib/base/str.h"

// A row for each value of a field that one of them has. Requires-Python is equal where both contain the same versions of
// Python; Requires-Dist whatever the order of its specifiers, blanks and the spelling of its name; two Requires-Dist of
// one project share a row. Of a long text, such as the description, the row has the size and the hash. The rows borrow
// from the arena. The caller releases *out.
void metadata_diff_make(struct str a, struct str b, struct arena *text, struct diff_rows *out);
