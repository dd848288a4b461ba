// SPDX-License-Identifier: Apache-2.0
#include "auditor/rebuild/rebuild-list.h"
#include "lib/os/clock.h"

static struct jsondoc *state_totals_json(const uint64_t total[REBUILD_STATE_COUNT])
{
	struct jsondoc *totals = jsondoc_object();
	for (size_t i = 0; i < REBUILD_STATE_COUNT; i++)
		jsondoc_put_int(totals, rebuild_state_name[i], (int64_t)total[i]);
	return totals;
}

static struct jsondoc *reason_json(const struct rebuild_reason *r)
{
	struct jsondoc *one = jsondoc_object();
	jsondoc_put_str(one, "state", rebuild_state_name[r->state]);
	jsondoc_put_str(one, "member", r->member);
	jsondoc_put_str(one, "library", r->library);
	jsondoc_put_str(one, "detail", r->detail);
	jsondoc_put_str(one, "instead", r->instead);
	return one;
}

static struct jsondoc *wheel_json(const struct rebuild_row *r)
{
	struct jsondoc *row = jsondoc_object(), *reasons = jsondoc_array();
	jsondoc_put_str(row, "platform", r->platform->name);
	jsondoc_put_str(row, "project", r->project);
	jsondoc_put_str(row, "version", r->version);
	jsondoc_put_str(row, "filename", r->filename);
	jsondoc_put_str(row, "sha256", r->sha256);
	jsondoc_put_str(row, "state", rebuild_state_name[r->state]);
	jsondoc_put_str(row, "why", r->why);
	jsondoc_put_bool(row, "yanked", r->is_yanked);
	if (r->build)
		jsondoc_put_int(row, "build", r->build);
	else
		jsondoc_put_str(row, "build", NULL);
	jsondoc_put_str(row, "replacement", r->replacement);
	for (size_t i = 0; i < r->reasons; i++)
		jsondoc_add(reasons, reason_json(&r->reason[i]));
	jsondoc_put(row, "reasons", reasons);
	return row;
}

struct jsondoc *rebuild_list_json(const struct rebuild_list *l, bool all)
{
	struct jsondoc *doc = jsondoc_object(), *platforms = jsondoc_array(), *rows = jsondoc_array();
	char made[CLOCK_TEXT];
	clock_write(l->made, made);
	jsondoc_put_str(doc, "made", made);
	for (size_t i = 0; i < l->platforms; i++) {
		struct jsondoc *one = jsondoc_object();
		jsondoc_put_str(one, "platform", l->platform[i].platform->name);
		jsondoc_put_str(one, "provides", l->platform[i].provides);
		jsondoc_put(one, "totals", state_totals_json(l->platform[i].total));
		jsondoc_add(platforms, one);
	}
	jsondoc_put(doc, "platforms", platforms);
	jsondoc_put(doc, "totals", state_totals_json(l->total));
	for (size_t i = 0; i < l->rows; i++)
		if (all || l->row[i].state != REBUILD_FITS)
			jsondoc_add(rows, wheel_json(&l->row[i]));
	jsondoc_put(doc, "rows", rows);
	return doc;
}
