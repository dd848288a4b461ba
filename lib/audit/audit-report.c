// SPDX-License-Identifier: Apache-2.0
#include "lib/audit/audit-report.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/limits.h"
#include "lib/format/escape.h"

const char *const audit_level_name[AUDIT_LEVEL_COUNT] = {
	[AUDIT_OFF] = "off", [AUDIT_WARN] = "warn", [AUDIT_ERROR] = "error"};

const char *const audit_code_name[AUDIT_CODE_COUNT] = {
	[AUDIT_TAG_TOO_LOW] = "tag-too-low",
	[AUDIT_MISSING_LIBRARY] = "missing-library",
	[AUDIT_UNHASHED_NAME] = "unhashed-name",
	[AUDIT_WRONG_MACHINE] = "wrong-machine",
	[AUDIT_NATIVE_IN_PURE] = "native-in-pure",
	[AUDIT_ABI3] = "abi3",
	[AUDIT_ABSOLUTE_RPATH] = "absolute-rpath",
	[AUDIT_TOO_COMPLEX] = "too-complex",
	[AUDIT_DAMAGED] = "damaged",
	[AUDIT_RULE_REQUIRED] = "rule-required",
	[AUDIT_RULE_FORBIDDEN] = "rule-forbidden",
	[AUDIT_RULE_NAME] = "rule-name",
	[AUDIT_RULE_UNJUDGED] = "rule-unjudged",
	[AUDIT_EXECUTABLE_STACK] = "executable-stack",
	[AUDIT_TEXTREL] = "textrel",
	[AUDIT_RPATH] = "rpath",
	[AUDIT_LOOSE_LIBRARY] = "loose-library",
	[AUDIT_LIBPYTHON] = "libpython",
	[AUDIT_FOREIGN_FILE] = "foreign-file",
	[AUDIT_DAMAGED_DATA] = "damaged-data",
	[AUDIT_PURELIB] = "purelib",
	[AUDIT_INCOMPLETE] = "incomplete",
	[AUDIT_TWIN_SONAME] = "twin-soname",
	[AUDIT_TWIN_BYTES] = "twin-bytes",
	[AUDIT_JUNK] = "junk",
	[AUDIT_WRITABLE] = "writable",
	[AUDIT_SBOM] = "sbom",
};

enum audit_level audit_code_level(enum audit_code code)
{
	return code < AUDIT_EXECUTABLE_STACK ? AUDIT_ERROR : AUDIT_WARN;
}

bool audit_code_is_of_rule(enum audit_code code)
{
	return code >= AUDIT_RULE_REQUIRED && code <= AUDIT_RULE_UNJUDGED;
}

enum audit_level audit_level_find(const char *name)
{
	unsigned i = 0;
	while (i < AUDIT_LEVEL_COUNT && strcmp(audit_level_name[i], name) != 0)
		i++;
	return (enum audit_level)i;
}

enum audit_code audit_code_find(const char *name)
{
	unsigned i = 0;
	while (i < AUDIT_CODE_COUNT && strcmp(audit_code_name[i], name) != 0)
		i++;
	return (enum audit_code)i;
}

// A copy of at most `most` bytes in which control characters are question marks: names in wheels are foreign text.
static const char *copy_clean(struct arena *a, const char *text, size_t most)
{
	CLEANUP(buf_release) struct buf clean = buf_up_to(most);
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
	ARENA_GROW(&r->text, r->finding, r->count, r->room);
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
