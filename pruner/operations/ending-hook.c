// SPDX-License-Identifier: Apache-2.0
#include "pruner/operations/ending-hook.h"

#include "lib/domain/text/version.h"
#include "lib/os/clock.h"

void ending_hook_add(struct hook_queue *queue, const struct config_view *view, const char *project,
	const struct view_channel_version *v, int64_t previous)
{
	char came[CLOCK_TEXT], ends[CLOCK_TEXT];
	bool was_warned = previous && v->ends - previous <= (int64_t)view->warn_seconds;
	CLEANUP(version_release) struct version version = {0};
	struct err ignored = ERR_INIT;
	if (!view->on_change || was_warned || version_parse(str_from(v->version), &version, &ignored) < 0)
		return;
	clock_write(v->came, came);
	clock_write(v->ends, ends);
	CLEANUP(mem_free) char *about = xasprintf("%s %s, which ends in %s", project, v->version, view->name);
	CLEANUP(mem_free) char *line = xasprintf("ending %s %s %s", view->name, project, version.text);
	const char *const variables[][2] = {{"CHANGE", "ending"}, {"VIEW", view->name}, {"PROJECT", project},
		{"VERSION", version.text}, {"CAME", came}, {"ENDS", ends}};
	const struct hook_value values[] = {{'p', ""}, {'v', ""}, {'n', project}, {'r', version.text}};
	const struct hook_job job = {
		view->on_change, about, project, line, values, ARRAY_SIZE(values), variables, ARRAY_SIZE(variables)};
	hook_queue_add(queue, &job);
}
