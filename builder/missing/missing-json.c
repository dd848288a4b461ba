// SPDX-License-Identifier: Apache-2.0
#include "builder/missing/missing-json.h"

#include <string.h>

#include "lib/domain/text/specifier.h"

static struct jsondoc *files_json(const struct missing_branch *b)
{
	struct jsondoc *all = jsondoc_array();
	for (size_t i = 0; i < b->files; i++) {
		struct jsondoc *one = jsondoc_object();
		jsondoc_put_str(one, "name", b->file[i].name);
		jsondoc_put_str(one, "kind", b->file[i].kind);
		jsondoc_put_str(one, "sha256", b->file[i].sha256);
		jsondoc_add(all, one);
	}
	return all;
}

static struct jsondoc *branches_json(const struct missing *m)
{
	struct jsondoc *all = jsondoc_array();
	for (size_t i = 0; i < m->branches; i++) {
		struct jsondoc *one = jsondoc_object();
		jsondoc_put_str(one, "name", m->branch[i].name);
		jsondoc_put_str(one, "until", m->branch[i].until);
		jsondoc_put_bool(one, "is_over", m->branch[i].is_over);
		jsondoc_put(one, "files", files_json(&m->branch[i]));
		jsondoc_add(all, one);
	}
	return all;
}

// In the order of the list of the manual.
static struct jsondoc *status_totals_json(const uint64_t total[WHEEL_STATUS_COUNT])
{
	struct jsondoc *totals = jsondoc_object();
	for (size_t i = 0; i < WHEEL_STATUSES_OF_MISSING; i++)
		jsondoc_put_int(totals, wheel_status_name[wheel_status_missing[i]], (int64_t)total[wheel_status_missing[i]]);
	return totals;
}

static struct jsondoc *environments_json(const struct missing *m)
{
	struct jsondoc *all = jsondoc_array();
	for (size_t i = 0; i < m->environments; i++) {
		struct jsondoc *one = jsondoc_object();
		jsondoc_put_str(one, "platform", m->environment[i].platform);
		jsondoc_put_str(one, "python", m->environment[i].python);
		jsondoc_put(one, "totals", status_totals_json(m->environment[i].total));
		jsondoc_add(all, one);
	}
	return all;
}

static void put_sdist(struct jsondoc *row, const struct missing_sdist *s)
{
	if (!s->filename) {
		jsondoc_put_str(row, "sdist", NULL);
		return;
	}
	struct jsondoc *sdist = jsondoc_object();
	jsondoc_put_str(sdist, "filename", s->filename);
	jsondoc_put_str(sdist, "url", s->url);
	jsondoc_put_str(sdist, "sha256", s->sha256);
	if (s->size >= 0)
		jsondoc_put_int(sdist, "size", s->size);
	else
		jsondoc_put_str(sdist, "size", NULL);
	jsondoc_put(row, "sdist", sdist);
}

static void put_attempts(struct jsondoc *row, const struct missing_attempts *a)
{
	if (!a->result) {
		jsondoc_put_str(row, "attempts", NULL);
		return;
	}
	struct jsondoc *attempts = jsondoc_object();
	jsondoc_put_int(attempts, "count", a->count);
	jsondoc_put_time(attempts, "last", a->last);
	jsondoc_put_time(attempts, "retry", a->retry);
	jsondoc_put_str(attempts, "result", a->result);
	jsondoc_put_str(attempts, "step", a->step);
	jsondoc_put_str(attempts, "recipe", a->recipe);
	jsondoc_put(row, "attempts", attempts);
}

// Where only some patch releases of the Python want it.
static void put_micros(struct jsondoc *row, uint64_t micros)
{
	enum { TEXT = SPECIFIER_MICROS * 4 };
	if (!micros || micros == UINT64_MAX)
		return;
	CLEANUP(buf_release) struct buf text;
	buf_init(&text, TEXT);
	for (int from = 0, to; from < SPECIFIER_MICROS; from = to + 1) {
		for (to = from; to + 1 < SPECIFIER_MICROS && (micros >> from & 1) && (micros >> (to + 1) & 1);)
			to++;
		if (micros >> from & 1)
			buf_printf(&text, "%s%d-%d", text.len ? "," : "", from, to);
	}
	jsondoc_put_str(row, "micros", text.data);
}

static struct jsondoc *row_json(const struct missing_row *r)
{
	struct jsondoc *row = jsondoc_object(), *branches = jsondoc_array();
	jsondoc_put_str(row, "platform", r->platform);
	jsondoc_put_str(row, "python", r->python);
	jsondoc_put_str(row, "project", r->project);
	jsondoc_put_str(row, "version", r->version);
	jsondoc_put_str(row, "status", wheel_status_name[r->status]);
	jsondoc_put_str(row, "why", r->why);
	for (size_t i = 0; i < r->branches; i++)
		jsondoc_add_str(branches, r->branch[i]);
	jsondoc_put(row, "branches", branches);
	put_sdist(row, &r->sdist);
	put_attempts(row, &r->attempts);
	if (r->build)
		jsondoc_put_int(row, "build", r->build);
	put_micros(row, r->micros);
	return row;
}

struct jsondoc *missing_json(const struct missing *m)
{
	struct jsondoc *doc = jsondoc_object(), *rows = jsondoc_array();
	jsondoc_put_time(doc, "made", m->made);
	jsondoc_put(doc, "branches", branches_json(m));
	jsondoc_put(doc, "environments", environments_json(m));
	jsondoc_put(doc, "totals", status_totals_json(m->total));
	for (size_t i = 0; i < m->rows; i++)
		jsondoc_add(rows, row_json(&m->row[i]));
	jsondoc_put(doc, "rows", rows);
	return doc;
}
