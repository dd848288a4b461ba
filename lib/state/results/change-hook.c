// SPDX-License-Identifier: Apache-2.0
#include "lib/state/results/change-hook.h"

#include <stdlib.h>

#include "lib/base/limits.h"
#include "lib/domain/text/name.h"
#include "lib/domain/text/version.h"
#include "lib/os/clock.h"

void change_hook_add(struct hook_queue *h, const char *command, const struct results_attempt *a,
	enum results_change change)
{
	char begun[CLOCK_TEXT];
	CLEANUP(version_release) struct version version = {0};
	CLEANUP(buf_release) struct buf project;
	struct err ignored = ERR_INIT;
	buf_init(&project, LIMIT_FILE_NAME);
	if (!command || change == RESULTS_UNCHANGED || !name_is_valid(str_from(a->project)) ||
		version_parse(str_from(a->version), &version, &ignored) < 0)
		return;
	name_normalize(str_from(a->project), &project);
	clock_write(a->begun, begun);
	CLEANUP(mem_free) char *seconds = xasprintf("%.0f", a->seconds);
	CLEANUP(mem_free) char *about = xasprintf("%s %s on %s", project.data, version.text, a->platform);
	const char *word = change == RESULTS_NOW_FAILS ? "failed" : "good";
	CLEANUP(mem_free)
	char *line = xasprintf("%s %s %s %s %s", word, a->platform, a->python, project.data, version.text);
	const char *const variables[][2] = {{"CHANGE", word},
		{"PLATFORM", a->platform}, {"PYTHON", a->python}, {"PROJECT", project.data}, {"VERSION", version.text},
		{"RESULT", results_result_name[a->result]}, {"STEP", a->step}, {"WHY", a->why}, {"ID", a->id},
		{"BUILDER", a->builder}, {"BEGUN", begun}, {"SECONDS", seconds}};
	const struct hook_value values[] = {{'p', a->platform}, {'v', a->python}, {'n', project.data}, {'r', version.text}};
	const struct hook_job job = {
		command, about, project.data, line, values, ARRAY_SIZE(values), variables, ARRAY_SIZE(variables)};
	hook_queue_add(h, &job);
}
