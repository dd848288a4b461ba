// SPDX-License-Identifier: Apache-2.0
// One row of a build: asks again whether it is still missing, tries it, keeps and sends the result, and ends it in the
// schedule. Any thread of the build, one at a time per row.
#pragma once

#include "builder/build-state.h"
#include "lib/base/err.h"

// A row that fails is no error. ERR_NET: the server does not answer, and the row is not tried; other errors: it cannot
// be asked, or our own files cannot be written. Then no other row need be tried.
int build_try_row(struct build_state *b, struct schedule_row *r, struct err *e) MUST_CHECK;
