// SPDX-License-Identifier: Apache-2.0
// Whether an attempt may be stored: a builder, which may be foreign, has filled it. Pure; any thread.
#pragma once

#include "lib/base/buf.h"
#include "lib/state/results/results.h"

// Checks every value but is_sent and has_log. now: seconds since 1970; an attempt that begins more than a day later has
// the time of a wrong clock, and would stay the newest. ERR_INVALID names the value.
int results_check(const struct results_attempt *a, int64_t now, struct err *e) MUST_CHECK;
