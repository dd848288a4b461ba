// SPDX-License-Identifier: Apache-2.0
#include "pruner/operations/ending-hook.h"

#include "lib/os/clock.h"

void ending_hook_add(struct hook_queue *queue, const struct config_view *view, const char *project,
	const struct view_channel_version *v, int64_t previous)
{
	char came[CLOCK_TEXT], ends[CLOCK_TEXT];
	bool was_warned = previous && v->ends - previous <= (int64_t)view->warn_seconds;
	if (!view->on_change || was_warned)
		return;
	clock_write(v->came, came);
	clock_write(v->ends, ends);
	CLEANUP(mem_free) char *about = xasprintf("%s %s, which ends in %s", project, v->version, view->name);
	const char *const variables[][2] = {{"CHANGE", "ending"}, {"VIEW", view->name}, {"PROJECT", project},
		{"VERSION", v->version}, {"CAME", came}, {"ENDS", ends}};
	const struct hook_value values[] = {{'p', ""}, {'v', ""}, {'n', project}, {'r', v->version}};
	const struct hook_job job = {
		view->on_change, about, values, ARRAY_SIZE(values), variables, ARRAY_SIZE(variables)};
	hook_queue_add(queue, &job);
}
