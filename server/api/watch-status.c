// SPDX-License-Identifier: Apache-2.0
#include "server/api/watch-status.h"

#include "server/http/metrics.h"

void watch_status_put(struct server_context *s, bool sees_all, struct jsondoc *doc)
{
	struct store_scans_watch state = store_scans_watch(s->scans);
	struct jsondoc *watch = jsondoc_object();
	jsondoc_put_bool(watch, "on", state.is_on);
	if (sees_all) {
		jsondoc_put_int(watch, "folders", (int64_t)state.seen.folders);
		jsondoc_put_int(watch, "refused", (int64_t)state.seen.refused);
	}
	jsondoc_put_int(watch, "overflows", (int64_t)state.seen.overflows);
	jsondoc_put_int(watch, "floods", (int64_t)state.seen.floods);
	jsondoc_put_int(watch, "scans", (int64_t)state.scans);
	jsondoc_put_int(watch, "lag-ms", (int64_t)(state.lag * 1000));
	jsondoc_put(doc, "watch", watch);
}

void watch_status_put_platform(struct server_context *s, const struct platform *p, struct jsondoc *doc)
{
	const char *silent = NULL;
	jsondoc_put_bool(doc, "watched", store_scans_watches(s->scans, p->name, &silent));
	if (silent)
		jsondoc_put_str(doc, "file-system", silent);
}

void watch_status_metrics(struct server_context *s, bool sees_all, struct buf *out)
{
	struct store_scans_watch state = store_scans_watch(s->scans);
	const struct {
		const char *name, *type, *help;
		double value;
		bool is_of_all;
	} row[] = {
		{"watch_folders", "gauge", "Folders of the store whose changes are seen at once.",
			(double)state.seen.folders, true},
		{"watch_refused_folders", "gauge", "Folders that the system has no watch for.", (double)state.seen.refused,
			true},
		{"watch_overflows_total", "counter", "Times that the kernel dropped events.", (double)state.seen.overflows, false},
		{"watch_floods_total", "counter", "Times that too many folders changed.", (double)state.seen.floods, false},
		{"watch_scans_total", "counter", "Scans of what had changed.", (double)state.scans, false},
		{"watch_fruitless_scans_total", "counter", "Those that changed nothing.", (double)state.fruitless, false},
		{"watch_lag_seconds", "gauge", "From the first change to the end of the last such scan.", state.lag, false},
		{"watch_longest_lag_seconds", "gauge", "The longest of these times.", state.longest_lag, false},
	};
	for (size_t i = 0; i < ARRAY_SIZE(row); i++) {
		if (row[i].is_of_all && !sees_all)
			continue;
		metrics_head(out, row[i].name, row[i].type, row[i].help);
		metrics_line(out, row[i].name, NULL, row[i].value);
	}
}
