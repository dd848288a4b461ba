// SPDX-License-Identifier: Apache-2.0
// Checks the file WHEEL of a wheel (binary distribution format). A pure function; any thread.
#pragma once

#include "lib/domain/text/filename.h"
#include "lib/domain/text/findings.h"

// ERR_INVALID for a Wheel-Version that no installer accepts. Tags that differ from those of the file name are a
// finding: installers use the file name, and PyPI has such wheels (psutil 5.9.8).
int wheelfile_check(struct str text, const struct filename *name, enum strictness strictness, struct findings *findings,
	struct err *e) MUST_CHECK;
