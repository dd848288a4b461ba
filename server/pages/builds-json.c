// SPDX-License-Identifier: Apache-2.0
#include "server/pages/builds-json.h"

#include "lib/format/jsondoc.h"
#include "lib/os/clock.h"
#include "lib/state/results/results-json.h"

static struct jsondoc *failures_json(const struct builds_data *d)
{
	struct jsondoc *list = jsondoc_array();
	for (size_t i = 0; i < d->failures; i++) {
		char since[CLOCK_TEXT];
		struct jsondoc *one = results_json(&d->failure[i].attempt);
		clock_write(d->failure[i].since, since);
		jsondoc_put_str(one, "since", since);
		jsondoc_put_int(one, "failures", d->failure[i].count);
		jsondoc_add(list, one);
	}
	return list;
}

static struct jsondoc *days_json(const struct builds_data *d)
{
	struct jsondoc *list = jsondoc_array();
	for (size_t i = 0; i < BUILDS_DAYS; i++) {
		char day[CLOCK_TEXT];
		struct jsondoc *one = jsondoc_object();
		clock_write(d->day[i].day, day);
		day[10] = '\0';
		jsondoc_put_str(one, "day", day);
		jsondoc_put_int(one, "good", (int64_t)d->day[i].good);
		jsondoc_put_int(one, "failed", (int64_t)d->day[i].failed);
		jsondoc_add(list, one);
	}
	return list;
}

int builds_json_write(const struct builds_data *data, bool only_attempts, struct buf *out, struct err *e)
{
	CLEANUP(jsondoc_cleanup) struct jsondoc *doc = jsondoc_object();
	struct jsondoc *attempts = jsondoc_array();
	for (size_t i = 0; i < data->attempts; i++)
		jsondoc_add(attempts, results_json(&data->attempt[i]));
	if (!only_attempts) {
		jsondoc_put(doc, "failing", failures_json(data));
		jsondoc_put_int(doc, "running", (int64_t)data->running);
		jsondoc_put(doc, "days", days_json(data));
	}
	jsondoc_put(doc, "attempts", attempts);
	jsondoc_put_bool(doc, "more", data->has_more);
	jsondoc_write(doc, 2, out);
	return out->failed ? err_set(e, ERR_LIMIT, "builds: more than %zu bytes of JSON", out->cap) : 0;
}
