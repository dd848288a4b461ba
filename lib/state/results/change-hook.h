// SPDX-License-Identifier: Apache-2.0
// Runs [build] on-change: the command that learns that a platform, Python and project begins to fail, or is built
// again. Any thread may add.
//
// The facts are in its environment: WHEELCACHE_CHANGE ("failed" or "good"), WHEELCACHE_PLATFORM, _PYTHON, _PROJECT,
// _VERSION, _RESULT, _STEP, _WHY, _ID, _BUILDER, _BEGUN, _SECONDS and
// _CHANGES (hook-queue.h).
#pragma once

#include "lib/os/hook.h"
#include "lib/state/results/results.h"

// Runs the command for the change of this attempt. Nothing happens if the command is NULL, the change is
// RESULTS_UNCHANGED, or the attempt has no project and version in the sense of PEP 503 and 440: what reaches the
// command is in normal form, so that no word of it is an option. The arguments are copied.
void change_hook_add(struct hook_queue *h, const char *command, const struct results_attempt *a,
	enum results_change change);
