// SPDX-License-Identifier: Apache-2.0
// Unpacks the modules of a wheel, as an installer does, without its scripts, headers and data. One thread at a time.
#pragma once

#include "lib/base/err.h"
#include "lib/base/strset.h"

// Unpacks into the open, empty folder, which no other program changes meanwhile; never outside it. Adds each path that
// was made to *paths. ERR_INVALID: it is no sound archive, or one of its paths leads out; ERR_LIMIT; ERR_FULL, ERR_IO.
int wheel_unpack(const char *wheel, int folder, struct strset *paths, struct err *e) MUST_CHECK;
