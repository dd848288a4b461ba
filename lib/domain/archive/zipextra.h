// SPDX-License-Identifier: Apache-2.0
// Extra fields of ZIP headers (APPNOTE 4.5): the two that can change what a member is. Pure;
// thread-safe.
#pragma once

#include <stdbool.h>

#include "lib/base/err.h"
#include "lib/base/str.h"

struct zipextra {
	bool has_zip64;
	struct str zip64; // the body of field 0x0001, its length one that can be
};

// Checks the chain of fields, that no deciding one comes twice, and that a Unicode path (0x7075) is
// the very name: readers differ in which of the two they take. Slices of extra.
int zipextra_parse(struct str extra, struct str name, struct zipextra *out, struct err *e) MUST_CHECK;
