// SPDX-License-Identifier: Apache-2.0
#include "indexer/scan/scan-log.h"

#include <string.h>

#include "lib/base/counted.h"
#include "lib/base/log.h"
#include "lib/base/mem.h"

void scan_log_tell(struct hook_queue *hooks, const char *command, const struct summary *s)
{
	for (size_t i = 0; command && i < s->list[SCAN_REPORT_LIST_NEWS].count; i++) {
		char *const *field = s->list[SCAN_REPORT_LIST_NEWS].item[i].field;
		// The path begins with a platform and the reason with the kind, so that neither is taken for an option.
		CLEANUP(mem_free) char *platform = xstrndup(field[0], strcspn(field[0], "/"));
		CLEANUP(mem_free) char *reason = xasprintf("%s: %s", field[2], field[1]);
		const char *const variables[][2] = {
			{"CHANGE", field[2]}, {"PLATFORM", platform}, {"FILE", field[0]}, {"REASON", field[1]}};
		const struct hook_value values[] = {{'p', platform}, {'n', field[0]}, {'r', reason}, {'v', ""}};
		CLEANUP(mem_free) char *line = xasprintf("%s %s", field[2], field[0]);
		const struct hook_job job = { // each file is told of apart
			command, field[0], field[0], line, values, ARRAY_SIZE(values), variables, ARRAY_SIZE(variables)};
		hook_queue_add(hooks, &job);
	}
}

void scan_log_summary(const char *activity, const struct summary *s)
{
	const uint64_t *n = s->number;
	size_t hidden = 0;
	if (n[SCAN_REPORT_ADDED] || n[SCAN_REPORT_CHANGED] || n[SCAN_REPORT_GONE])
		log_info("%s: %llu added, %llu changed, %llu gone, %llu quarantined, %.1f s", activity,
			(unsigned long long)n[SCAN_REPORT_ADDED], (unsigned long long)n[SCAN_REPORT_CHANGED],
			(unsigned long long)n[SCAN_REPORT_GONE], (unsigned long long)n[SCAN_REPORT_QUARANTINED],
			s->seconds);
	for (size_t i = 0; i < s->list[SCAN_REPORT_LIST_CHANGED].count; i++) {
		const struct summary_item *item = &s->list[SCAN_REPORT_LIST_CHANGED].item[i];
		hidden += item->is_private;
		(item->is_private ? log_debug : log_warn)("%s: other bytes under a known name: %s", activity,
			item->field[0]);
	}
	if (hidden)
		log_warn("%s: other bytes under %s of private platforms (--log-level debug names each)", activity,
			COUNTED(hidden, "known name|known names"));
	const uint64_t all = s->list[SCAN_REPORT_LIST_NEWS].all;
	uint64_t told = 0;
	for (size_t i = 0; i < s->list[SCAN_REPORT_LIST_NEWS].count && told < SCAN_LOG_NEWS; i++) {
		const struct summary_item *item = &s->list[SCAN_REPORT_LIST_NEWS].item[i];
		bool is_misfit = strcmp(item->field[2], "misfit") == 0;
		(item->is_private ? log_debug : log_warn)("%s: %s is %s: %s", activity, item->field[0],
			is_misfit ? "listed, but does not fit" : "quarantined", item->field[1]);
		told += !item->is_private;
	}
	if (all > told)
		log_warn("%s: %s (wheelcache index names each)", activity,
			COUNTED(all - told,
				told ? "more file is quarantined or does not fit|"
				       "more files are quarantined or do not fit"
				     : "file is quarantined or does not fit|files are quarantined or do not fit"));
}
