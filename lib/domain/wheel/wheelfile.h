// SPDX-License-Identifier: Apache-2.0
// The file WHEEL of a wheel (binary distribution format). Pure; thread-safe.
#pragma once

#include "lib/domain/text/filename.h"
#include "lib/domain/text/findings.h"

// ERR_INVALID for a Wheel-Version that no installer takes. Tags that are not the file name's are a
// finding: psutil 5.9.8 has them on PyPI, and installers go by the file name.
int wheelfile_check(struct str text, const struct filename *name, enum strictness strictness, struct findings *findings,
	struct err *e) MUST_CHECK;
