// SPDX-License-Identifier: Apache-2.0
#include "explainer/explain-audit.h"

#include "lib/base/limits.h"
#include "lib/format/escape.h"
#include "lib/os/clock.h"
#include "lib/state/store/stored-facts.h"

static struct jsondoc *unknown_doc(const char *why)
{
	struct jsondoc *doc = jsondoc_object();
	jsondoc_put_str(doc, "unknown", why);
	return doc;
}

static struct jsondoc *report_doc(const struct audit_report *r)
{
	struct jsondoc *doc = jsondoc_object(), *findings = jsondoc_array();
	jsondoc_put_str(doc, "tag", *r->tag ? r->tag : NULL);
	jsondoc_put_int(doc, "errors", r->errors);
	jsondoc_put_int(doc, "warnings", r->warnings);
	for (size_t i = 0; i < r->count && i < LIMIT_EXPLAIN_FINDINGS; i++)
		jsondoc_add(findings, audit_finding_json(&r->finding[i]));
	jsondoc_put(doc, "findings", findings);
	return doc;
}

static struct jsondoc *judge_stored(struct explain_audit *a, const char *platform, const struct filename *name,
	const uint8_t *sha256)
{
	struct err why = ERR_INIT;
	CLEANUP(wheel_facts_release) struct wheel_facts facts = {0};
	CLEANUP(audit_report_release) struct audit_report report = {0};
	if (stored_facts_get(a->catalog, sha256, &facts, &why) < 0)
		return unknown_doc(why.kind == ERR_NOT_FOUND ? why.msg : "the catalog cannot be read");
	wheel_gate_judge(a->gate, platform, name, &facts, &report);
	return report_doc(&report);
}

void explain_audit(struct explain_audit *a, const char *platform, const char *filename, const uint8_t *sha256,
	struct jsondoc *row)
{
	struct err ignored = ERR_INIT;
	CLEANUP(filename_release) struct filename name = {0};
	if (!a->gate || !sha256 || filename_parse(str_from(filename), &name, &ignored) < 0 ||
		name.kind != FILENAME_WHEEL)
		return;
	if (!a->end_ms)
		a->end_ms = clock_ms() + LIMIT_EXPLAIN_AUDIT_MS;
	bool is_late = a->judged++ >= LIMIT_EXPLAIN_AUDITS || clock_ms() >= a->end_ms;
	jsondoc_put(row, "audit",
		is_late ? unknown_doc("other wheels of the project took the time; ask for one version")
			: judge_stored(a, platform, &name, sha256));
}

// The uploader chose what it says of members: a line feed in it would forge a line of the explanation.
static void print_judged(const char *before, const char *text, struct buf *out)
{
	if (!text)
		return;
	buf_puts(out, before);
	escape_terminal(out, str_from(text));
}

static void print_judgement(const struct jsondoc *finding, const char *indent, struct buf *out)
{
	buf_printf(out, "%s  %s %s", indent, jsondoc_get_str(finding, "level"), jsondoc_get_str(finding, "code"));
	print_judged(" of the rule ", jsondoc_get_str(finding, "rule"), out);
	print_judged(" in ", jsondoc_get_str(finding, "member"), out);
	print_judged(": ", jsondoc_get_str(finding, "why"), out);
	buf_putc(out, '\n');
}

void explain_audit_text(const struct jsondoc *audit, const char *indent, struct buf *out)
{
	const struct jsondoc *findings = jsondoc_get(audit, "findings");
	int64_t errors = 0, warnings = 0;
	if (!findings || !jsondoc_get_int(audit, "errors", &errors) || !jsondoc_get_int(audit, "warnings", &warnings) ||
		errors + warnings == 0)
		return; // nothing is wrong, as far as is known
	buf_printf(out, "%saudit: %lld error%s, %lld warning%s\n", indent, (long long)errors, errors == 1 ? "" : "s",
		(long long)warnings, warnings == 1 ? "" : "s");
	for (size_t i = 0; i < jsondoc_count(findings); i++)
		print_judgement(jsondoc_at(findings, i), indent, out);
	if ((int64_t)jsondoc_count(findings) < errors + warnings)
		buf_printf(out, "%s  … and %lld more; see `wheelcache audit`\n", indent,
			(long long)errors + warnings - (int64_t)jsondoc_count(findings));
}
