// SPDX-License-Identifier: Apache-2.0
// Compatibility tags: PEP 425. Pure; thread-safe.
#pragma once

#include "lib/base/err.h"
#include "lib/base/str.h"
#include "lib/domain/text/filename.h"

// One tag, as "cp38-cp38-manylinux1_x86_64", in lower case; borrowed for the call. Returns 0 to go
// on, or -1 with *e set, which ends the walk.
typedef int tag_fn(void *ctx, struct str tag, struct err *e);

// Calls fn for each tag that the wheel's three compressed sets stand for, once each, in the order
// of the sets. ERR_LIMIT, before the first call, where they are more than LIMIT_TAGS, or where the
// sets are longer than LIMIT_FILE_NAME: each tag is no longer than they are.
int tag_foreach(const struct filename *wheel, tag_fn *fn, void *ctx, struct err *e) MUST_CHECK;
