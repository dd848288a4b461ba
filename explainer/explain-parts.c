// SPDX-License-Identifier: Apache-2.0
#include "explainer/explain-parts.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/counted.h"
#include "lib/base/limits.h"
#include "lib/base/log.h"
#include "lib/domain/text/specifier.h"
#include "lib/format/escape.h"
#include "lib/os/clock.h"
#include "lib/state/access/audit-recent.h"
#include "lib/state/catalog/catalog-attachment.h"
#include "lib/state/store/facts-reader.h"

enum { BUILDS_MOST = 500 }; // attempts that are reported

// The uploader chose what is said of members and provenance: a line feed in it would forge a line of the explanation.
static void print_said(struct buf *out, const char *before, const char *text)
{
	if (!text)
		return;
	buf_puts(out, before);
	escape_terminal(out, str_from(text));
}

// --- the audit ---

static struct jsondoc *unknown_doc(const char *why)
{
	struct jsondoc *doc = jsondoc_object();
	jsondoc_put_str(doc, "unknown", why);
	return doc;
}

static struct jsondoc *judge_stored(struct explain_audit *a, const char *platform, const struct filename *name,
	const uint8_t *sha256)
{
	struct err why = ERR_INIT;
	CLEANUP(wheel_facts_release) struct wheel_facts facts = {0};
	CLEANUP(audit_report_release) struct audit_report report = {0};
	if (facts_reader_get(a->catalog, sha256, &facts, &why) < 0)
		return unknown_doc(why.kind == ERR_NOT_FOUND ? why.msg : "the catalog cannot be read");
	wheel_gate_judge(a->gate, platform, name, &facts, &report);
	struct jsondoc *doc = jsondoc_object(), *findings = jsondoc_array();
	jsondoc_put_str(doc, "tag", *report.tag ? report.tag : NULL);
	jsondoc_put_int(doc, "errors", report.errors);
	jsondoc_put_int(doc, "warnings", report.warnings);
	for (size_t i = 0; i < report.count && i < LIMIT_EXPLAIN_FINDINGS; i++)
		jsondoc_add(findings, audit_finding_json(&report.finding[i]));
	jsondoc_put(doc, "findings", findings);
	return doc;
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

void explain_audit_text(const struct jsondoc *audit, const char *indent, struct buf *out)
{
	const struct jsondoc *findings = jsondoc_get(audit, "findings");
	int64_t errors = 0, warnings = 0;
	if (!findings || !jsondoc_get_int(audit, "errors", &errors) || !jsondoc_get_int(audit, "warnings", &warnings) ||
		errors + warnings == 0)
		return; // nothing is wrong, as far as is known
	buf_printf(out, "%saudit: %s, %s\n", indent, COUNTED((uint64_t)errors, "error|errors"),
		COUNTED((uint64_t)warnings, "warning|warnings"));
	for (size_t i = 0; i < jsondoc_count(findings); i++) {
		const struct jsondoc *finding = jsondoc_at(findings, i);
		buf_printf(out, "%s  %s %s", indent, jsondoc_get_str(finding, "level"),
			jsondoc_get_str(finding, "code"));
		print_said(out, " of the rule ", jsondoc_get_str(finding, "rule"));
		print_said(out, " in ", jsondoc_get_str(finding, "member"));
		print_said(out, ": ", jsondoc_get_str(finding, "why"));
		buf_putc(out, '\n');
	}
	if ((int64_t)jsondoc_count(findings) < errors + warnings)
		buf_printf(out, "%s  … and %lld more; see `wheelcache audit`\n", indent,
			(long long)errors + warnings - (int64_t)jsondoc_count(findings));
}

// --- provenance ---

static struct jsondoc *row_doc(const struct provenance_row *r)
{
	struct jsondoc *out = jsondoc_object();
	jsondoc_put_str(out, "kind", provenance_kind_name[r->kind]);
	jsondoc_put_str(out, "component", r->component);
	jsondoc_put_known_str(out, "version", r->version);
	jsondoc_put_known_str(out, "source", r->source);
	jsondoc_put_known_str(out, "digest", r->digest);
	jsondoc_put_known_str(out, "path", r->path);
	jsondoc_put_known_str(out, "how", r->how);
	jsondoc_put_known_str(out, "options", r->options);
	return out;
}

struct jsondoc *explain_provenance(const struct provenance *p, bool has_rows)
{
	struct jsondoc *out = jsondoc_object(), *rows = has_rows ? jsondoc_array() : NULL;
	jsondoc_put_str(out, "predicate", p->predicate_type);
	jsondoc_put_known_str(out, "build_type", p->build_type);
	jsondoc_put_known_str(out, "builder", p->builder);
	jsondoc_put_known_str(out, "invocation", p->invocation);
	jsondoc_put_known_str(out, "started", p->started);
	jsondoc_put_known_str(out, "finished", p->finished);
	for (size_t i = 0; has_rows && i < p->rows; i++)
		jsondoc_add(rows, row_doc(&p->row[i]));
	if (rows)
		jsondoc_put(out, "rows", rows);
	if (p->is_cut)
		jsondoc_put_bool(out, "cut", true);
	return out;
}

int explain_provenance_put(struct catalog *c, const struct catalog_history *file, bool has_rows, size_t *bytes,
	struct jsondoc *row, struct err *e)
{
	struct catalog_attached found;
	struct err unreadable = ERR_INIT;
	bool is_served = file->state == FILE_IS_LISTED || file->state == FILE_IS_UNLISTED;
	CLEANUP(provenance_release) struct provenance p = {0};
	CLEANUP(buf_release) struct buf text = buf_up_to(LIMIT_STATEMENT);
	if (file->provenance)
		jsondoc_put_bool(row, "attestations", true);
	if (!file->statement || !is_served || *bytes > LIMIT_EXPLAIN_STATEMENTS)
		return 0;
	int result = catalog_attached(c, file->platform, file->filename, ATTACHMENT_STATEMENT, &found, &text, e);
	*bytes += text.len;
	if (result > 0 && provenance_read(buf_view(&text), &p, &unreadable) == 0)
		jsondoc_put(row, "provenance", explain_provenance(&p, has_rows));
	return result < 0 ? -1 : 0;
}

void explain_provenance_text(const struct jsondoc *provenance, const char *indent, struct buf *out)
{
	const struct jsondoc *rows = jsondoc_get(provenance, "rows");
	const char *builder = jsondoc_get_str(provenance, "builder");
	buf_puts(out, indent);
	print_said(out, builder ? "built by " : "a statement of ",
		builder ? builder : jsondoc_get_str(provenance, "predicate"));
	print_said(out, ", finished ", jsondoc_get_str(provenance, "finished"));
	print_said(out, ", invocation ", jsondoc_get_str(provenance, "invocation"));
	buf_putc(out, '\n');
	for (size_t i = 0; rows && i < jsondoc_count(rows); i++) {
		const struct jsondoc *row = jsondoc_at(rows, i);
		buf_printf(out, "%s  %-10s", indent, jsondoc_get_str(row, "kind"));
		print_said(out, "  ", jsondoc_get_str(row, "component"));
		print_said(out, " ", jsondoc_get_str(row, "version"));
		print_said(out, ", from ", jsondoc_get_str(row, "source"));
		print_said(out, ", ", jsondoc_get_str(row, "digest"));
		print_said(out, ", in ", jsondoc_get_str(row, "path"));
		print_said(out, ", as ", jsondoc_get_str(row, "how"));
		print_said(out, ", built with ", jsondoc_get_str(row, "options"));
		buf_putc(out, '\n');
	}
	if (jsondoc_is_true(provenance, "cut"))
		buf_printf(out, "%s  further rows are left out\n", indent);
}

// --- builds ---

// The newest attempt for a platform, Python and version.
struct tried_wheel {
	struct results_attempt newest; // RESULTS_RUNNING: none has ended
	bool is_running;
};

struct tried_wheels {
	const char *specifier; // "==VERSION"; NULL: all versions
	struct tried_wheel item[BUILDS_MOST];
	size_t count;
	struct arena text;
};

static void free_tried(struct tried_wheels **t)
{
	arena_release(&(*t)->text);
	free(*t);
}

static bool is_asked_for(const struct tried_wheels *t, const char *version)
{
	struct err ignored = ERR_INIT;
	CLEANUP(version_release) struct version parsed = {0};
	if (!t->specifier)
		return true;
	return version_parse(str_from(version), &parsed, &ignored) == 0 &&
	       specifier_set_admits(str_from(t->specifier), &parsed);
}

static struct tried_wheel *find_tried(struct tried_wheels *t, const struct results_attempt *a)
{
	for (size_t i = 0; i < t->count; i++) {
		const struct results_attempt *b = &t->item[i].newest;
		if (strcmp(a->platform, b->platform) == 0 && strcmp(a->python, b->python) == 0 &&
			strcmp(a->version, b->version) == 0)
			return &t->item[i];
	}
	return NULL;
}

static void keep_newest(struct tried_wheels *t, struct tried_wheel *tried, const struct results_attempt *a)
{
	struct results_attempt *n = &tried->newest;
	const char **const text[] = {&n->id, &n->platform, &n->python, &n->project, &n->version, &n->step, &n->why};
	*n = *a;
	for (size_t i = 0; i < ARRAY_SIZE(text); i++)
		*text[i] = arena_copy(&t->text, str_from(*text[i]));
}

// The newest comes first.
static int add_tried(void *ctx, const struct results_attempt *a, struct err *e UNUSED)
{
	struct tried_wheels *t = ctx;
	struct tried_wheel *tried = find_tried(t, a);
	if (!tried && (t->count == BUILDS_MOST || !is_asked_for(t, a->version)))
		return 0;
	if (!tried) {
		tried = &t->item[t->count++];
		tried->is_running = a->result == RESULTS_RUNNING;
		keep_newest(t, tried, a);
	} else if (tried->newest.result == RESULTS_RUNNING && a->result != RESULTS_RUNNING)
		keep_newest(t, tried, a);
	return 0;
}

struct jsondoc *explain_builds(struct results *r, const struct view *view, const char *project, const char *version,
	struct err *e)
{
	CLEANUP(mem_free) char *specifier = version ? xasprintf("==%s", version) : NULL;
	CLEANUP(free_tried) struct tried_wheels *t = xcalloc(1, sizeof(*t));
	CLEANUP(jsondoc_cleanup) struct jsondoc *all = jsondoc_array();
	t->specifier = specifier;
	CLEANUP(mem_free) const char **name = xcalloc(view->platform_count + 1, sizeof(*name));
	for (size_t i = 0; i < view->platform_count; i++)
		name[i] = view->platform[i]->name;
	const struct results_filter filter = {
		.project = project, .platforms = name, .platform_count = view->platform_count};
	if (results_list(r, &filter, add_tried, t, e) < 0)
		return NULL;
	for (size_t i = 0; i < t->count; i++) {
		const struct tried_wheel *tried = &t->item[i];
		const struct results_attempt *a = &tried->newest;
		struct jsondoc *out = jsondoc_object();
		jsondoc_add(all, out);
		jsondoc_put_str(out, "platform", a->platform);
		jsondoc_put_str(out, "python", a->python);
		jsondoc_put_str(out, "version", a->version);
		jsondoc_put_str(out, "result", results_result_name[a->result]);
		jsondoc_put_str(out, "step", a->step);
		jsondoc_put_str(out, "why", a->why);
		jsondoc_put_time(out, "begun", a->begun);
		jsondoc_put_str(out, "id", a->id);
		jsondoc_put_bool(out, "running", tried->is_running);
		CLEANUP(results_history_release) struct results_history h = {0};
		if (results_is_failure(a->result)) {
			if (results_history(r, a->platform, a->python, a->project, a->version, &h, e) < 0)
				return NULL;
			jsondoc_put_int(out, "failures", h.failures);
			jsondoc_put_time(out, "since", h.first_failed);
		}
	}
	return STEAL_PTR(all);
}

// --- the audit log ---

static bool is_removal(const char *action)
{
	static const char *const removes[] = {"remove", "prune", "purge", "retain", "retire"};
	for (size_t i = 0; i < ARRAY_SIZE(removes); i++)
		if (strcmp(action, removes[i]) == 0)
			return true;
	return false;
}

static int take_act(void *ctx, const struct audit_entry *a, const char *time, struct err *e UNUSED)
{
	struct explain_log *log = ctx;
	if (!a->platform || !a->file || !a->action || !a->result || strcmp(a->result, "done") != 0)
		return 0;
	bool is_upload = strcmp(a->action, "upload") == 0 && a->who && a->sha256;
	if (!is_upload && (a->view || !is_removal(a->action)))
		return 0;
	const char *const from[] = {a->action, a->platform, a->file, time, a->sha256, a->who, a->reason};
	const char *copy[ARRAY_SIZE(from)];
	for (size_t i = 0; i < ARRAY_SIZE(from); i++)
		copy[i] = arena_copy(&log->text, str_from(from[i] ? from[i] : ""));
	GROW(log->act, log->acts, log->room);
	log->act[log->acts++] =
		(struct explain_act){copy[0], copy[1], copy[2], copy[3], copy[4], copy[5], copy[6]};
	return 0;
}

void explain_log_read(struct explain_log *log, const char *path, const char *project)
{
	struct err e = ERR_INIT;
	bool is_whole;
	const struct audit_query q = {.path = path, .project = project, .most = LIMIT_AUDIT_READ};
	if (path && !log->is_read && audit_recent(&q, take_act, log, &is_whole, &e) < 0)
		log_warn("%s", e.msg);
	log->is_read = true;
}

void explain_log_release(struct explain_log *log)
{
	free(log->act);
	arena_release(&log->text);
}

const struct explain_act *explain_log_find(const struct explain_log *log, const char *platform, const char *filename,
	const char *sha256)
{
	for (size_t i = log->acts; i-- > 0;) {
		const struct explain_act *a = &log->act[i];
		if (is_removal(a->action) == !sha256 && strcmp(a->filename, filename) == 0 &&
			strcmp(a->platform, platform) == 0 && (!sha256 || strcmp(a->sha256, sha256) == 0))
			return a;
	}
	return NULL;
}
