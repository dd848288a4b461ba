// SPDX-License-Identifier: Apache-2.0
#include "lib/audit/audit-report.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/limits.h"
#include "lib/format/escape.h"

// A copy of at most `most` bytes in which control characters are question marks: names in wheels are foreign text.
static const char *copy_clean(struct arena *a, const char *text, size_t most)
{
	CLEANUP(buf_release) struct buf clean;
	buf_init(&clean, most);
	escape_terminal(&clean, str_head(str_from(text), most));
	return arena_copy(a, buf_view(&clean));
}

static const char *copy_name(struct arena *a, const char *text)
{
	return text ? arena_copy(a, str_head(str_from(text), LIMIT_PATH)) : NULL;
}

// Errors and warnings have room of their own, so that many warnings hide no error.
void audit_report_add(struct audit_report *r, struct audit_finding finding)
{
	unsigned *count = finding.level == AUDIT_ERROR ? &r->errors : &r->warnings;
	if (finding.level == AUDIT_OFF || (*count)++ >= LIMIT_AUDIT_FINDINGS)
		return;
	finding.member = copy_name(&r->text, finding.member);
	finding.rule = copy_name(&r->text, finding.rule);
	finding.why = copy_clean(&r->text, finding.why, LIMIT_AUDIT_WHY);
	GROW(r->finding, r->count, r->room);
	r->finding[r->count++] = finding;
}

static int compare_text(const char *one, const char *other)
{
	return strcmp(one ? one : "", other ? other : "");
}

static int compare_findings(const void *a, const void *b)
{
	const struct audit_finding *one = a, *other = b;
	if (one->level != other->level)
		return one->level > other->level ? -1 : 1;
	if (one->code != other->code)
		return one->code < other->code ? -1 : 1;
	int order = compare_text(one->member, other->member);
	if (order == 0)
		order = compare_text(one->rule, other->rule);
	return order ? order : strcmp(one->why, other->why);
}

void audit_report_finish(struct audit_report *r)
{
	if (r->count)
		qsort(r->finding, r->count, sizeof(*r->finding), compare_findings);
	if (r->count > LIMIT_AUDIT_FINDINGS)
		r->count = LIMIT_AUDIT_FINDINGS;
}

void audit_report_release(struct audit_report *r)
{
	free(r->finding);
	arena_release(&r->text);
	*r = (struct audit_report){0};
}

struct jsondoc *audit_finding_json(const struct audit_finding *f)
{
	struct jsondoc *doc = jsondoc_object();
	jsondoc_put_str(doc, "code", audit_code_name[f->code]);
	jsondoc_put_str(doc, "level", audit_level_name[f->level]);
	jsondoc_put_str(doc, "member", f->member);
	jsondoc_put_str(doc, "rule", f->rule);
	jsondoc_put_str(doc, "why", f->why);
	return doc;
}

struct jsondoc *audit_report_json(const struct audit_report *r, const char *filename)
{
	struct jsondoc *doc = jsondoc_object(), *findings = jsondoc_array();
	jsondoc_put_str(doc, "filename", filename);
	jsondoc_put_str(doc, "tag", *r->tag ? r->tag : NULL);
	jsondoc_put_str(doc, "symbol_tag", *r->symbol_tag ? r->symbol_tag : NULL);
	jsondoc_put_int(doc, "errors", r->errors);
	jsondoc_put_int(doc, "warnings", r->warnings);
	for (size_t i = 0; i < r->count; i++)
		jsondoc_add(findings, audit_finding_json(&r->finding[i]));
	jsondoc_put(doc, "findings", findings);
	return doc;
}
