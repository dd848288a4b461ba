// SPDX-License-Identifier: Apache-2.0
// Compatibility tags (PEP 425). Pure functions; any thread.
#pragma once

#include "lib/base/err.h"
#include "lib/base/str.h"
#include "lib/domain/text/filename.h"

// Called for one tag, such as "cp38-cp38-manylinux1_x86_64", in lower case; borrowed for the call. Returns 0 to
// continue, or -1 with *e set, which ends the walk.
typedef int tag_fn(void *ctx, struct str tag, struct err *e);

// Expands the wheel's three compressed sets: calls fn once for each tag, in the order of the sets. ERR_LIMIT, before
// the first call, if there are more than LIMIT_TAGS tags or the sets are longer than LIMIT_FILE_NAME. No tag is longer
// than the sets together.
int tag_foreach(const struct filename *wheel, tag_fn *fn, void *ctx, struct err *e) MUST_CHECK;
