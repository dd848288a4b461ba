// SPDX-License-Identifier: Apache-2.0
#include "cli/common/scan-log.h"

#include "lib/base/log.h"

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
		log_warn("%s: other bytes under %zu known names of private platforms (--log-level debug names them)",
			activity, hidden);
}
