// SPDX-License-Identifier: Apache-2.0
// Runs [build] on-change: the command that learns that a platform, Python and project begins to fail, or is built again.
// Any thread may add.
//
// The facts are in its environment: WHEELCACHE_CHANGE ("failed" or "good"), WHEELCACHE_PLATFORM, _PYTHON, _PROJECT,
// _VERSION, _RESULT, _STEP, _WHY, _ID, _BUILDER, _BEGUN and _SECONDS.
#pragma once

#include "lib/os/hook-queue.h"
#include "lib/state/results/results.h"

// Runs the command for the change of this attempt. Nothing happens if the command is NULL or the change is
// RESULTS_UNCHANGED. The arguments are copied.
void change_hook_add(struct hook_queue *h, const char *command, const struct results_attempt *a,
	enum results_change change);
