// SPDX-License-Identifier: Apache-2.0
#include "lib/state/results/change-hook.h"

#include <stdlib.h>

#include "lib/os/clock.h"

void change_hook_add(struct hook_queue *h, const char *command, const struct results_attempt *a,
	enum results_change change)
{
	char begun[CLOCK_TEXT];
	if (!command || change == RESULTS_UNCHANGED)
		return;
	clock_write(a->begun, begun);
	CLEANUP(mem_free) char *seconds = xasprintf("%.0f", a->seconds);
	CLEANUP(mem_free) char *about = xasprintf("%s %s on %s", a->project, a->version, a->platform);
	const char *const variables[][2] = {{"CHANGE", change == RESULTS_NOW_FAILS ? "failed" : "good"},
		{"PLATFORM", a->platform}, {"PYTHON", a->python}, {"PROJECT", a->project}, {"VERSION", a->version},
		{"RESULT", results_result_name[a->result]}, {"STEP", a->step}, {"WHY", a->why}, {"ID", a->id},
		{"BUILDER", a->builder}, {"BEGUN", begun}, {"SECONDS", seconds}};
	const struct hook_value values[] = {{'p', a->platform}, {'v', a->python}, {'n', a->project}, {'r', a->version}};
	const struct hook_job job = {command, about, values, ARRAY_SIZE(values), variables, ARRAY_SIZE(variables)};
	hook_queue_add(h, &job);
}
