// SPDX-License-Identifier: Apache-2.0
#include "uploader/push-report.h"

#include <stdlib.h>

#include "lib/format/escape.h"
#include "lib/format/jsondoc.h"

// In the order of the enum.
static const struct outcome_row {
	const char *key, *text;
	bool is_good;
} outcomes[PUSH_REPORT_COUNT] = {
	[PUSH_REPORT_NEW] = {"published", "published", true},
	[PUSH_REPORT_THERE] = {"already-there", "already there", true},
	[PUSH_REPORT_KEPT] = {"kept-earlier", "kept as an earlier build", true},
	[PUSH_REPORT_CONFLICT] = {"conflict", "conflict", false},
	[PUSH_REPORT_REFUSED] = {"refused", "refused", false},
	[PUSH_REPORT_BAD] = {"bad", "not sent", false},
	[PUSH_REPORT_FAILED] = {"failed", "failed", false},
	[PUSH_REPORT_NOT_TRIED] = {"not-tried", "not tried", false},
};

void push_report_release(struct push_report *p)
{
	for (size_t i = 0; i < p->count; i++)
		dist_file_release(&p->file[i].dist);
	free(p->file);
	*p = (struct push_report){0};
}

static size_t count_outcome(const struct push_report *p, enum push_report_outcome outcome)
{
	size_t total = 0;
	for (size_t i = 0; i < p->count; i++)
		total += p->file[i].outcome == outcome;
	return total;
}

static size_t count_good(const struct push_report *p)
{
	size_t total = 0;
	for (size_t i = 0; i < p->count; i++)
		total += outcomes[p->file[i].outcome].is_good;
	return total;
}

void push_report_problems(const struct push_report *p, struct buf *out)
{
	for (size_t i = 0; i < p->count; i++) {
		const struct push_report_file *f = &p->file[i];
		if (!outcomes[f->outcome].is_good && f->outcome != PUSH_REPORT_NOT_TRIED)
			escape_terminal_line(out, "%s: %s: %s", f->dist.path, outcomes[f->outcome].text, f->why.msg);
	}
}

void push_report_text(const struct push_report *p, struct buf *out)
{
	bool is_first = true;
	push_report_problems(p, out);
	for (int k = 0; k < PUSH_REPORT_COUNT; k++) {
		size_t total = count_outcome(p, (enum push_report_outcome)k);
		if (total)
			buf_printf(out, "%s%zu %s", is_first ? "" : ", ", total, outcomes[k].text);
		is_first = is_first && !total;
	}
	buf_printf(out, " in %.1f s\n", p->seconds);
}

static struct jsondoc *file_json(const struct push_report_file *f)
{
	struct jsondoc *doc = jsondoc_object();
	jsondoc_put_str(doc, "path", f->dist.path);
	jsondoc_put_str(doc, "filename", f->dist.filename);
	jsondoc_put_str(doc, "result", outcomes[f->outcome].key);
	if (f->why.kind != ERR_NONE)
		jsondoc_put_str(doc, "reason", f->why.msg);
	jsondoc_put_int(doc, "sent", f->sent);
	jsondoc_put_bool(doc, "listed", f->is_listed);
	if (f->dist.project) {
		jsondoc_put_str(doc, "project", f->dist.project);
		jsondoc_put_str(doc, "version", f->dist.version);
		jsondoc_put_str(doc, "sha256", f->dist.sha256);
		jsondoc_put_int(doc, "size", f->dist.st.st_size);
	}
	return doc;
}

void push_report_json(const struct push_report *p, struct buf *out)
{
	CLEANUP(jsondoc_cleanup) struct jsondoc *doc = jsondoc_object();
	struct jsondoc *files = jsondoc_array();
	jsondoc_put_bool(doc, "ok", count_good(p) == p->count);
	if (p->stop.kind != ERR_NONE)
		jsondoc_put_str(doc, "reason", p->stop.msg);
	jsondoc_put_real(doc, "seconds", p->seconds);
	for (int k = 0; k < PUSH_REPORT_COUNT; k++)
		jsondoc_put_int(doc, outcomes[k].key, (int64_t)count_outcome(p, (enum push_report_outcome)k));
	for (size_t i = 0; i < p->count; i++)
		jsondoc_add(files, file_json(&p->file[i]));
	jsondoc_put(doc, "files", files);
	jsondoc_write(doc, 2, out);
}

int push_report_verdict(const struct push_report *p, struct err *e)
{
	if (p->stop.kind != ERR_NONE) {
		*e = p->stop;
		return -1;
	}
	size_t bad = p->count - count_good(p);
	return bad ? err_set(e, ERR_CONFLICT, "%zu of %zu files are not on the server", bad, p->count) : 0;
}
