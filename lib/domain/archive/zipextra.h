// SPDX-License-Identifier: Apache-2.0
// Parses the extra fields of ZIP headers (APPNOTE 4.5): the two that can change what a member is. A pure function; any
// thread.
#pragma once

#include <stdbool.h>

#include "lib/base/err.h"
#include "lib/base/str.h"

struct zipextra {
	bool has_zip64;
	struct str zip64; // the body of field 0x0001, of a length that the format allows; borrowed
};

// Parses the chain of fields. ERR_INVALID if it is damaged, if ZIP64 or the Unicode path (0x7075) occurs twice, or if
// the Unicode path differs from the name, because readers differ in which of the two they use. *out has slices of
// extra.
int zipextra_parse(struct str extra, struct str name, struct zipextra *out, struct err *e) MUST_CHECK;
