// SPDX-License-Identifier: Apache-2.0
// Checks files of a plan again for the server (server/core/plan-check.h), by the policy of the configuration. Any thread.
#pragma once

#include "server/core/plan-check.h"

// A plan_check_fn.
int plan_check_now(const struct plan_check *check, struct err *e) MUST_CHECK;
