// SPDX-License-Identifier: Apache-2.0
// Judges a built wheel before it is tested, as an upload of it would be. No foreign program of the attempt runs
// meanwhile. Any thread.
#pragma once

#include "builder/run/run-log.h"
#include "builder/step/built-wheel.h"
#include "lib/audit/wheel-gate.h"

// Each finding becomes a line of the log. ERR_INVALID: the gate refuses the wheel. ERR_IO: it cannot be read.
int wheel_audit(struct wheel_gate *gate, const char *platform, const struct built_wheel *wheel, struct run_log *log,
	struct err *e) MUST_CHECK;
