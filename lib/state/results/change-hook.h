// SPDX-License-Identifier: Apache-2.0
// Runs [build] on-change: the command that learns that a platform, Python and project begins to fail, or is built again.
// One thread runs the commands, one after the other; recording a result never waits. Any thread may add.
//
// The facts are in its environment, since they are text from outside: WHEELCACHE_CHANGE ("failed" or "good"),
// WHEELCACHE_PLATFORM, _PYTHON, _PROJECT, _VERSION, _RESULT, _STEP, _WHY, _ID, _BUILDER, _BEGUN and _SECONDS.
#pragma once

#include "lib/state/results/results.h"

enum {
	CHANGE_HOOK_QUEUE = 256,  // changes that wait; further ones are dropped, which is logged
	CHANGE_HOOK_SECONDS = 30, // that one command may take
};

struct change_hook;

// Starts no thread before the first change. The caller frees it.
struct change_hook *change_hook_new(void);
// Ends the thread. What waits is run, but all of it for at most this many seconds; what is dropped then is logged. NULL is
// fine.
void change_hook_free(struct change_hook *h, unsigned seconds);
// Runs the command for the change of this attempt. Nothing happens if the command is NULL or the change is
// RESULTS_UNCHANGED. A command that fails is logged. The arguments are copied.
void change_hook_add(struct change_hook *h, const char *command, const struct results_attempt *a,
	enum results_change change);
