// SPDX-License-Identifier: Apache-2.0
#include <inttypes.h>
#include <string.h>

#include "explainer/explain-membership.h"
#include "explainer/explain.h"
#include "lib/base/limits.h"
#include "lib/base/log.h"
#include "lib/domain/text/filename.h"
#include "lib/domain/text/name.h"
#include "lib/domain/wheel/attachment.h"
#include "lib/format/escape.h"
#include "lib/os/clock.h"
#include "lib/state/access/audit.h"
#include "lib/state/config/promotion-rules.h"
#include "lib/state/upstream/rule-list.h"
#include "lib/state/upstream/upstream.h"
#include "server/core/auth.h"
#include "server/pages/page.h"
#include "server/upstream/name-guard.h"

static int64_t number_under(const struct jsondoc *doc, const char *key)
{
	int64_t n = 0;
	jsondoc_get_int(doc, key, &n);
	return n;
}

// "unit", as a link to the record if there is one, and where the tests ran.
static void put_kind(struct buf *out, const struct jsondoc *record, const char *up)
{
	const char *id = jsondoc_get_str(record, "evidence");
	if (id)
		html_put(out, "<a href=\"%h/evidence/%u\">", up, id);
	html_put(out, "%s%h%s, Python %s: ", jsondoc_get_str(record, "kind"), id ? "</a> on " : " on ",
		jsondoc_get_str(record, "platform"), jsondoc_get_str(record, "python"));
}

// Which other bytes a record is about.
static void put_tested(struct buf *out, const struct jsondoc *r)
{
	const char *tested = jsondoc_get_str(r, "tested");
	enum promotion_match as = promotion_match_find(jsondoc_get_str(r, "as"));
	if (!tested || as == PROMOTION_MATCH_COUNT)
		return;
	buf_puts(out, " <span class=\"verdict goes\">other bytes</span> ");
	promotion_tested_words(as, tested, out);
}

static void put_record(struct buf *out, const struct jsondoc *r, const char *up)
{
	const char *override = jsondoc_get_str(r, "override");
	buf_puts(out, "<div>");
	put_kind(out, r, up);
	if (override) {
		html_put(out, "<span class=\"verdict wrong\">override</span> %s", override);
	} else
		buf_printf(out, "%" PRId64 " passed, %" PRId64 " failed, %" PRId64 " skipped",
			number_under(r, "passed"), number_under(r, "failed"), number_under(r, "skipped"));
	if (jsondoc_get_str(r, "by"))
		html_put(out, " (%s)", jsondoc_get_str(r, "by"));
	put_tested(out, r);
	buf_puts(out, "</div>");
}

static void put_lack(struct buf *out, const struct jsondoc *lack, const char *up)
{
	const char *result = jsondoc_get_str(lack, "result"), *why = jsondoc_get_str(lack, "why");
	buf_puts(out, "<div>");
	put_kind(out, lack, up);
	html_put(out, "<span class=\"verdict%h\">%s</span> %s", strcmp(result, "red") == 0 ? " wrong" : "", result,
		why);
	put_tested(out, lack);
	buf_puts(out, "</div>");
}

static void put_membership_row(struct buf *out, const struct jsondoc *row, bool has_membership, const char *up)
{
	const struct jsondoc *m = jsondoc_get(row, "membership");
	html_put(out, "<tr><th scope=\"row\" class=\"file\">%s</th><td>%s</td>", jsondoc_get_str(row, "filename"),
		jsondoc_get_str(row, "platform"));
	const struct jsondoc *views = jsondoc_get(row, "views");
	buf_puts(out, "<td>");
	for (size_t i = 0; views && i < jsondoc_count(views); i++)
		html_put(out, "%h<a href=\"%h/channel/%u/\">%s</a>", i ? ", " : "", up, jsondoc_at_str(views, i),
			jsondoc_at_str(views, i));
	buf_puts(out, "</td>");
	if (has_membership && m && jsondoc_is_true(m, "member")) {
		const struct jsondoc *evidence = jsondoc_get(m, "evidence");
		const char *made = jsondoc_get_str(m, "made"), *by = jsondoc_get_str(m, "by");
		const char *reason = jsondoc_get_str(m, "reason");
		buf_printf(out, "<td>generation %" PRId64, number_under(m, "generation"));
		buf_printf(out, "%s%.10s", made ? ", " : "", made ? made : "");
		if (by)
			html_put(out, ", by %s", by);
		html_put(out, "%h%s</td><td class=\"why full\">", reason ? ": " : "", reason);
		for (size_t i = 0; evidence && i < jsondoc_count(evidence); i++)
			put_record(out, jsondoc_at(evidence, i), up);
		buf_puts(out, "</td>");
	} else if (has_membership && m) {
		const struct jsondoc *lacks = jsondoc_get(m, "lacks");
		const char *why = jsondoc_get_str(m, "why");
		buf_puts(out, "<td><span class=\"verdict goes\">not a member</span></td><td class=\"why full\">");
		if (!lacks || !jsondoc_count(lacks))
			html_text(out, why ? why : "");
		for (size_t i = 0; lacks && i < jsondoc_count(lacks); i++)
			put_lack(out, jsondoc_at(lacks, i), up);
		buf_puts(out, "</td>");
	}
	buf_puts(out, "</tr>\n");
}

static bool has_key(const struct jsondoc *rows, const char *key)
{
	for (size_t i = 0; i < jsondoc_count(rows); i++)
		if (jsondoc_get(jsondoc_at(rows, i), key))
			return true;
	return false;
}

static void put_membership(const struct jsondoc *explanation, const char *up, struct buf *out)
{
	const struct jsondoc *here = jsondoc_get(explanation, "here");
	bool has_membership = has_key(here, "membership");
	if (!has_membership && !has_key(here, "views"))
		return;
	buf_puts(out, "<h2>Views</h2>\n");
	html_begin_table(out, "Views", "card wide builds",
		has_membership ? "File|Platform|Views|Member since|Evidence" : "File|Platform|Views");
	for (size_t i = 0; i < jsondoc_count(here); i++) {
		const struct jsondoc *row = jsondoc_at(here, i);
		if (jsondoc_get(row, "views") || jsondoc_get(row, "membership"))
			put_membership_row(out, row, has_membership, up);
	}
	html_end_table(out);
}

enum { FILES_SHOWN = 1000, TABLES_SHOWN = 50, ROWS_SHOWN = 200 };

struct provenance_page {
	struct buf *out;
	const char *project, *up;
	size_t files, tables;
};

// "…" behind the first 300 bytes: anybody who may upload chose them.
static void put_said(struct buf *out, const char *text)
{
	enum { MOST = 300 };
	struct str said = str_from(text ? text : ""), head = str_head(said, MOST);
	escape_html(out, head);
	if (head.len < said.len)
		buf_puts(out, "…");
}

static void put_said_cell(struct buf *out, const char *text)
{
	buf_puts(out, "<td class=\"why full\">");
	put_said(out, text);
	buf_puts(out, "</td>");
}

static void put_document_link(const struct provenance_page *p, const struct jsondoc *row, enum attachment kind,
	const char *words)
{
	html_put(p->out, "<a href=\"%h/../files/%u/%u/%u%h\">%h</a>", p->up, jsondoc_get_str(row, "platform"),
		p->project, jsondoc_get_str(row, "filename"), attachment_ending[kind], words);
}

// --- who and when ---

static void put_provenance_line(struct provenance_page *p, const struct jsondoc *row)
{
	const struct jsondoc *said = jsondoc_get(row, "provenance");
	const char *builder = said ? jsondoc_get_str(said, "builder") : NULL;
	bool has_attestations = jsondoc_is_true(row, "attestations");
	if ((!said && !has_attestations) || p->files == FILES_SHOWN)
		return;
	if (!p->files++)
		html_begin_table(p->out, "Where the files are from", "card wide",
			"File|Platform|Built by|Finished|Documents");
	buf_puts(p->out, "<tr><th scope=\"row\" class=\"file\">");
	put_said(p->out, jsondoc_get_str(row, "filename"));
	buf_puts(p->out, "</th><td>");
	put_said(p->out, jsondoc_get_str(row, "platform"));
	buf_puts(p->out, "</td>");
	put_said_cell(p->out, builder ? builder : said ? jsondoc_get_str(said, "predicate") : NULL);
	put_said_cell(p->out, said ? jsondoc_get_str(said, "finished") : NULL);
	buf_puts(p->out, "<td>");
	if (said)
		put_document_link(p, row, ATTACHMENT_STATEMENT, "statement");
	buf_puts(p->out, said && has_attestations ? ", " : "");
	if (has_attestations)
		put_document_link(p, row, ATTACHMENT_PROVENANCE, "attestations");
	buf_puts(p->out, "</td></tr>\n");
}

// --- from what ---

static void put_components(struct provenance_page *p, const struct jsondoc *row)
{
	const struct jsondoc *said = jsondoc_get(row, "provenance");
	const struct jsondoc *rows = said ? jsondoc_get(said, "rows") : NULL;
	size_t count = rows ? jsondoc_count(rows) : 0;
	if (!count || p->tables == TABLES_SHOWN)
		return;
	p->tables++;
	buf_puts(p->out, "<p class=\"note\">");
	put_said(p->out, jsondoc_get_str(row, "filename"));
	buf_puts(p->out, " of ");
	put_said(p->out, jsondoc_get_str(row, "platform"));
	buf_puts(p->out, "</p>\n");
	CLEANUP(mem_free)
	char *label =
		xasprintf("Components of %s of %s", jsondoc_get_str(row, "filename"), jsondoc_get_str(row, "platform"));
	html_begin_table(p->out, label, "card wide", "Component|Version|From|Installed in|As|Options");
	for (size_t i = 0; i < count && i < ROWS_SHOWN; i++) {
		const struct jsondoc *one = jsondoc_at(rows, i);
		static const char *const keys[] = {"component", "version", "source", "path", "how", "options"};
		buf_puts(p->out, "<tr>");
		for (size_t k = 0; k < ARRAY_SIZE(keys); k++)
			put_said_cell(p->out, jsondoc_get_str(one, keys[k]));
		buf_puts(p->out, "</tr>\n");
	}
	html_end_table(p->out);
	if (count > ROWS_SHOWN)
		buf_printf(p->out, "<p class=\"note\">These are the first %d of %zu.</p>\n", ROWS_SHOWN, count);
}

static void put_provenance(const struct jsondoc *explanation, const char *up, struct buf *out)
{
	const struct jsondoc *here = jsondoc_get(explanation, "here");
	struct provenance_page p = {.out = out, .project = jsondoc_get_str(explanation, "project"), .up = up};
	bool has_any = false;
	for (size_t i = 0; i < jsondoc_count(here); i++)
		has_any |= jsondoc_get(jsondoc_at(here, i), "provenance") ||
			   jsondoc_is_true(jsondoc_at(here, i), "attestations");
	if (!has_any)
		return;
	buf_puts(out,
		"<h2>Where the files are from</h2>\n<p class=\"note\">As their uploaders and builders say; nothing of it "
		"is verified.</p>\n");
	for (size_t i = 0; i < jsondoc_count(here); i++)
		put_provenance_line(&p, jsondoc_at(here, i));
	html_end_table(out);
	for (size_t i = 0; i < jsondoc_count(here); i++)
		put_components(&p, jsondoc_at(here, i));
}

enum { COMPARED_ROWS = 64 }; // so many rows back another wheel is looked for

static int64_t count_of(const struct jsondoc *audit, const char *key)
{
	int64_t n = 0;
	if (audit)
		jsondoc_get_int(audit, key, &n);
	return n;
}

// --- the files here ---

// One of several notes in a cell.
static void put_note(struct buf *out, size_t *notes, const char *words, const char *text)
{
	if (!text || !*text)
		return;
	html_put(out, "%h%h%s", (*notes)++ ? "; " : "", words, text);
}

static void put_why_cell(struct buf *out, const struct jsondoc *row)
{
	const struct jsondoc *plan = jsondoc_get(row, "plan"), *audit = jsondoc_get(row, "audit");
	size_t notes = 0;
	buf_puts(out, "<td class=\"why full\">");
	put_note(out, &notes, "", jsondoc_get_str(row, "reason"));
	// Who uploaded or removed it, if the reader is told.
	const struct jsondoc *removal = jsondoc_get(row, "removal");
	const char *when = jsondoc_get_str(row, "uploaded");
	put_note(out, &notes, "uploaded by ", jsondoc_get_str(row, "uploaded_by"));
	if (when)
		buf_printf(out, ", %.10s", when);
	put_note(out, &notes, "removed by ", removal ? jsondoc_get_str(removal, "by") : NULL);
	put_note(out, &notes, "the view shows the file of ", jsondoc_get_str(row, "hidden-by"));
	put_note(out, &notes, "other bytes of this name are elsewhere, so it is only at ", jsondoc_get_str(row, "only-at"));
	if (jsondoc_is_true(row, "not-promoted"))
		put_note(out, &notes, "", "not promoted into the view");
	put_note(out, &notes, "the last plan: ", plan ? jsondoc_get_str(plan, "verdict") : NULL);
	put_note(out, &notes, "audit: ", audit ? jsondoc_get_str(audit, "unknown") : NULL);
	if (jsondoc_is_true(row, "attestations"))
		put_note(out, &notes, "", "it has attestations, whose signatures are not verified here");
	buf_puts(out, "</td>");
}

// Of a wheel's name the part with the tags: "cp311-cp311-linux_x86_64.whl".
static const char *tags_of_name(const char *filename)
{
	const char *at = filename + strlen(filename);
	for (int dashes = 0; at > filename && dashes < 3; dashes += *at == '-')
		at--;
	return at;
}

static bool is_served_wheel(const struct jsondoc *row)
{
	const char *state = jsondoc_get_str(row, "state");
	return filename_kind(str_from(jsondoc_get_str(row, "filename"))) == FILENAME_WHEEL &&
	       (strcmp(state, "listed") == 0 || strcmp(state, "yanked") == 0 || strcmp(state, "unlisted") == 0);
}

static bool has_same(const struct jsondoc *a, const struct jsondoc *b, const char *key)
{
	return strcmp(jsondoc_get_str(a, key), jsondoc_get_str(b, key)) == 0;
}

// What the wheel of row i is compared with: an earlier row near it, of the platform with the same tags, or else of
// another platform with the same name. NULL: none.
static const struct jsondoc *find_other(const struct jsondoc *here, size_t i)
{
	const struct jsondoc *row = jsondoc_at(here, i), *copy = NULL;
	const char *tags = tags_of_name(jsondoc_get_str(row, "filename"));
	for (size_t k = i; k > 0 && i - k < COMPARED_ROWS; k--) {
		const struct jsondoc *other = jsondoc_at(here, k - 1);
		if (!is_served_wheel(other))
			continue;
		if (has_same(row, other, "platform") &&
			strcmp(tags_of_name(jsondoc_get_str(other, "filename")), tags) == 0)
			return other;
		if (!copy && has_same(row, other, "filename"))
			copy = other;
	}
	return copy;
}

// up: the path from the page to "/-".
static void put_compare_link(struct buf *out, const struct jsondoc *here, size_t i, const char *up)
{
	const struct jsondoc *row = jsondoc_at(here, i);
	const struct jsondoc *other = is_served_wheel(row) ? find_other(here, i) : NULL;
	if (!other)
		return;
	const char *const part[] = {jsondoc_get_str(other, "platform"), jsondoc_get_str(other, "filename"),
		jsondoc_get_str(row, "platform"), jsondoc_get_str(row, "filename")};
	buf_printf(out, " <a href=\"%s/compare", up);
	for (size_t k = 0; k < ARRAY_SIZE(part); k++)
		html_put(out, "/%u", part[k]);
	html_put(out, "\" title=\"with %s\">compare</a>", has_same(row, other, "platform") ? part[1] : part[0]);
}

static void put_files(struct buf *out, const struct jsondoc *here, const char *up)
{
	if (!jsondoc_count(here)) {
		buf_puts(out, "<p class=\"note\">No file is here.</p>\n");
		return;
	}
	html_begin_table(out, "Files", "card wide", "File|Platform|State|Audit|Why");
	for (size_t i = 0; i < jsondoc_count(here); i++) {
		const struct jsondoc *row = jsondoc_at(here, i);
		html_put(out, "<tr><th scope=\"row\" class=\"file\">%s", jsondoc_get_str(row, "filename"));
		put_compare_link(out, here, i, up);
		html_put(out, "</th><td>%s</td><td>%s</td>", jsondoc_get_str(row, "platform"),
			jsondoc_get_str(row, "state"));
		const struct jsondoc *audit = jsondoc_get(row, "audit");
		const char *unknown = audit ? jsondoc_get_str(audit, "unknown") : NULL;
		int64_t errors = count_of(audit, "errors"), warnings = count_of(audit, "warnings");
		buf_puts(out, "<td>");
		if (unknown)
			buf_puts(out, "unknown");
		else if (errors)
			html_put(out, "<span class=\"verdict goes\">%m</span>", errors, "error|errors");
		else if (warnings)
			html_put(out, "%m", warnings, "warning|warnings");
		else if (audit)
			buf_puts(out, "good");
		buf_puts(out, "</td>");
		put_why_cell(out, row);
		buf_puts(out, "</tr>\n");
	}
	html_end_table(out);
}

// --- what the audit finds ---

static void put_findings(struct buf *out, const struct jsondoc *row, bool is_first)
{
	const struct jsondoc *audit = jsondoc_get(row, "audit");
	const struct jsondoc *findings = audit ? jsondoc_get(audit, "findings") : NULL;
	int64_t all = count_of(audit, "errors") + count_of(audit, "warnings");
	html_put(out, "%h%s of %s</p>\n",
		is_first ? "<h2>What the audit finds</h2>\n<p class=\"note\">" : "<p class=\"note\">",
		jsondoc_get_str(row, "filename"), jsondoc_get_str(row, "platform"));
	CLEANUP(mem_free)
	char *label = xasprintf("What the audit finds in %s of %s", jsondoc_get_str(row, "filename"),
		jsondoc_get_str(row, "platform"));
	html_begin_table(out, label, "card wide", "Level|Finding|Member|Why");
	for (size_t i = 0; i < jsondoc_count(findings); i++) {
		const struct jsondoc *finding = jsondoc_at(findings, i);
		const char *level = jsondoc_get_str(finding, "level"), *rule = jsondoc_get_str(finding, "rule");
		bool is_error = level && strcmp(level, "error") == 0;
		html_put(out, "<tr><td><span class=\"verdict%h\">%s</span></td><td>%s", is_error ? " goes" : "", level,
			jsondoc_get_str(finding, "code"));
		if (rule)
			html_put(out, " of the rule %s", rule);
		html_put(out, "</td><td class=\"file\">%s</td><td class=\"why full\">%s</td></tr>\n",
			jsondoc_get_str(finding, "member"), jsondoc_get_str(finding, "why"));
	}
	html_end_table(out);
	if (all > (int64_t)jsondoc_count(findings))
		buf_printf(out, "<p class=\"note\">These are the first %zu of %" PRId64 ".</p>\n",
			jsondoc_count(findings), all);
}

// --- upstream, and what pip takes ---

static void put_upstream_rows(struct buf *out, const struct jsondoc *each)
{
	for (size_t i = 0; each && i < jsondoc_count(each); i++) {
		const struct jsondoc *row = jsondoc_at(each, i);
		const char *why = jsondoc_get_str(row, "why");
		int64_t files = 0;
		html_put(out, "<p class=\"note\">Upstream %s: %h%s%s", jsondoc_get_str(row, "name"),
			jsondoc_get_str(row, "result"), why ? ", " : NULL, why);
		if (jsondoc_get_int(row, "files", &files))
			html_put(out, ", %m", files, "file|files");
		buf_puts(out, "</p>\n");
	}
}

static void put_conflicts(struct buf *out, const struct jsondoc *conflicts)
{
	for (size_t i = 0; conflicts && i < jsondoc_count(conflicts); i++) {
		const struct jsondoc *row = jsondoc_at(conflicts, i);
		html_put(out, "<p class=\"note\">%s: upstream %s has other bytes than upstream %s, whose file counts</p>\n",
			jsondoc_get_str(row, "filename"), jsondoc_get_str(row, "other"), jsondoc_get_str(row, "counts"));
	}
}

// What the words do not say is the list of a record.
static void put_hidden_rule(struct buf *out, const struct jsondoc *rule, bool is_next)
{
	bool is_block = strcmp(jsondoc_get_str(rule, "rule"), "block") == 0;
	html_put(out, "%h%s%h%s%h", is_next ? "<br>" : "", jsondoc_get_str(rule, "says"), is_block ? " (" : "",
		is_block ? jsondoc_get_str(rule, "source") : "", is_block ? ")" : "");
}

static void put_hidden_files(struct buf *out, const struct jsondoc *hidden, int64_t count)
{
	if (!hidden || !jsondoc_count(hidden))
		return;
	html_put(out, "<h2>Not offered</h2>\n<p class=\"note\">%m of upstream</p>\n", count, "file|files");
	html_begin_table(out, "Not offered", "card wide", "File|Why");
	for (size_t i = 0; i < jsondoc_count(hidden); i++) {
		const struct jsondoc *file = jsondoc_at(hidden, i), *rules = jsondoc_get(file, "rules");
		html_put(out, "<tr><th scope=\"row\">%s</th><td class=\"why\">", jsondoc_get_str(file, "filename"));
		for (size_t k = 0; k < jsondoc_count(rules); k++)
			put_hidden_rule(out, jsondoc_at(rules, k), k > 0);
		if (!jsondoc_get_str(file, "upload-time") && jsondoc_get_str(file, "seen"))
			html_put(out, "<br>It has no upload time, and was first seen %s", jsondoc_get_str(file, "seen"));
		buf_puts(out, "</td></tr>\n");
	}
	html_end_table(out);
}

static void put_upstream(struct buf *out, const struct jsondoc *upstream)
{
	const char *why = jsondoc_get_str(upstream, "why"), *index = jsondoc_get_str(upstream, "index");
	int64_t files = 0;
	html_put(out, "<h2>Upstream</h2>\n<p class=\"note\">%s%h%s", index, index ? ": " : "",
		jsondoc_get_str(upstream, "result"));
	if (why && *why)
		html_put(out, ", %s", why);
	if (jsondoc_get_int(upstream, "files", &files))
		html_put(out, ", %m", files, "file|files");
	buf_puts(out, "</p>\n");
	put_upstream_rows(out, jsondoc_get(upstream, "each"));
	put_conflicts(out, jsondoc_get(upstream, "conflicts"));
	put_hidden_files(out, jsondoc_get(upstream, "hidden"), count_of(upstream, "not-offered"));
}

static void put_taken(struct buf *out, const struct jsondoc *environment, const char *key, const char *words)
{
	const struct jsondoc *choice = jsondoc_get(environment, key);
	html_put(out, "<td class=\"why kind full\" data-of=\"%h\">%s</td>", words,
		choice ? jsondoc_get_str(choice, "filename") : "–");
}

static void put_environments(struct buf *out, const struct jsondoc *rows)
{
	if (!jsondoc_count(rows))
		return;
	buf_puts(out, "<h2>What pip takes</h2>\n");
	html_begin_table(out, "What pip takes", "card wide",
		"Platform|From here|From upstream|From both|Clients of this view get");
	for (size_t i = 0; i < jsondoc_count(rows); i++) {
		const struct jsondoc *row = jsondoc_at(rows, i);
		html_put(out, "<tr><th scope=\"row\">%s, Python %s</th>", jsondoc_get_str(row, "platform"),
			jsondoc_get_str(row, "python"));
		put_taken(out, row, "here", "From here");
		put_taken(out, row, "upstream", "From upstream");
		put_taken(out, row, "both", "From both");
		put_taken(out, row, "client", "Clients of this view get");
		buf_puts(out, "</tr>\n");
	}
	html_end_table(out);
}

// --- the whole ---

static void write_explain_html(struct page_query *q, const struct jsondoc *explanation, struct buf *out)
{
	const struct jsondoc *here = jsondoc_get(explanation, "here");
	const char *version = jsondoc_get_str(explanation, "version"), *view = jsondoc_get_str(explanation, "view");
	const char *up = version ? "../../.." : "../..";
	CLEANUP(mem_free)
	char *title = xasprintf("%s%s%s", jsondoc_get_str(explanation, "project"), version ? " " : "",
		version ? version : "");
	CLEANUP(mem_free) char *words = view ? xasprintf("In %s", view) : xstrdup("In the default view");
	int64_t errors = 0;
	for (size_t i = 0; i < jsondoc_count(here); i++)
		errors += count_of(jsondoc_get(jsondoc_at(here, i), "audit"), "errors");
	html_begin(out, page_frame(q), title, words);
	losses_state(jsondoc_get(explanation, "lost"), out);
	if (errors)
		html_put(out, "<span class=\"state still busy\">%m</span>", errors, "error|errors");
	buf_puts(out, "</header>\n");
	losses_table(jsondoc_get(explanation, "lost"), up, out);
	put_files(out, here, up);
	put_membership(explanation, up, out);
	bool is_first = true;
	for (size_t i = 0; i < jsondoc_count(here); i++) {
		const struct jsondoc *audit = jsondoc_get(jsondoc_at(here, i), "audit");
		const struct jsondoc *findings = audit ? jsondoc_get(audit, "findings") : NULL;
		if (!findings || !jsondoc_count(findings))
			continue;
		put_findings(out, jsondoc_at(here, i), is_first);
		is_first = false;
	}
	put_provenance(explanation, up, out);
	put_upstream(out, jsondoc_get(explanation, "upstream"));
	put_environments(out, jsondoc_get(explanation, "environments"));
	CLEANUP(buf_release) struct buf links = buf_up_to(4096);
	buf_printf(&links, "<a href=\"?format=text\">text</a> · <a href=\"?format=json\">JSON</a>");
	const struct jsondoc *builds = jsondoc_get(explanation, "builds");
	if (builds && jsondoc_count(builds))
		html_put(&links, " · <a href=\"%h/builds/%u/\">builds</a>", up,
			jsondoc_get_str(explanation, "project"));
	html_put(&links, " · <a href=\"%h/project/%u\">project</a>", up, jsondoc_get_str(explanation, "project"));
	html_end(out, "%h", links.data);
}

// --- the page ---

struct explain_making {
	struct explain_about about; // with what the names say
	struct page_query *query;
	const char *version; // NULL: all
	struct jsondoc *doc; // owned by who asks
};

static bool sees_names(void *ctx, const struct platform *p)
{
	const struct explain_making *x = ctx;
	return page_names(x->query, p);
}

static bool may_read_view(void *ctx, const struct view *v)
{
	const struct explain_making *x = ctx;
	return readable_has_view(&x->query->readable, v, x->query->project);
}

static int make_explanation(void *ctx, const struct upstream_answer *answer, struct err *e)
{
	struct explain_making *x = ctx;
	struct page_query *q = x->query;
	struct server_context *s = q->context;
	const struct view *view = q->match->found_view;
	CLEANUP(results_cleanup) struct results *results = page_find_results(s);
	CLEANUP(wheel_gate_cleanup) struct wheel_gate *gate = server_context_gate(s);
	CLEANUP(explain_membership_cleanup) struct explain_membership *membership = NULL;
	const struct explain_reader reader = {may_read_view, sees_names, x};
	if (explain_membership_new(q->site, view, q->catalog, q->project, q->now, &reader, &membership, e) < 0)
		return -1;
	const char *audit = q->nameds && s->audit ? s->audit->path : NULL;
	const struct explain_losses losses = {q->site, q->catalog, q->project, audit, &reader};
	CLEANUP(jsondoc_cleanup) struct jsondoc *lost = NULL;
	if (explain_losses_read(&losses, &lost, e) < 0)
		return -1;
	struct explain_about about = x->about;
	CLEANUP(rule_list_cleanup) struct rule_list *denied = server_context_denied(q->context);
	about.denied = denied;
	about.version = x->version;
	about.results = results;
	about.gate = gate;
	about.audit_path = audit;
	about.reader = &reader;
	about.put_file = explain_membership_put;
	about.put_file_ctx = membership;
	about.lost = lost;
	x->doc = explain(&about, q->catalog, answer, e);
	return x->doc ? 0 : -1;
}

static struct reply *prepare_explanation(struct page_query *q)
{
	return site_is_incomplete(q->site, q->match->found_view) ? server_context_not_filled() : NULL;
}

static int make_document(struct page_query *q, struct jsondoc **out, struct err *e)
{
	struct server_context *s = q->context;
	struct str named = q->match->version;
	CLEANUP(mem_free) char *version = named.len ? xstrndup(named.ptr, named.len) : NULL;
	struct explain_making x = {.query = q,
		.version = version,
		.about = {.view = q->match->found_view,
			.project = q->project,
			.upstreams = server_context_upstreams(s)}};
	const struct upstream_answer unasked = {.result = UPSTREAM_NEVER_ASKED, .project = q->project, .why = ""};
	if (explain_find_names(q->site, q->catalog, s->owned_names, &x.about, e) < 0)
		return -1;
	int result = x.about.upstreams ? upstream_load_cached_any(x.about.upstreams, q->catalog, q->project, &x.about.order,
						 make_explanation, &x, e)
				       : make_explanation(&x, &unasked, e);
	*out = x.doc;
	if (result == 0 || (e->kind != ERR_NOT_FOUND && e->kind != ERR_INVALID))
		return result;
	bool is_private = q->match->found_view->is_private;
	return page_answer(q, server_context_not_found_in(s, is_private, "nothing is known of it"));
}

static void write_explain_text(struct page_query *q UNUSED, const struct jsondoc *explanation, struct buf *out)
{
	explain_text(explanation, out);
}

const struct page_row explain_page = {
	.section = HTML_SECTION_NONE,
	.scope = PAGE_SCOPE_VIEW,
	.is_data_first = true,
	.shows_names = true,
	.forms = 1 << PAGE_FORM_HTML | 1 << PAGE_FORM_JSON | 1 << PAGE_FORM_TEXT,
	.indent = 2,
	.most = LIMIT_PAGE,
	.prepare = prepare_explanation,
	.make = make_document,
	.form = {[PAGE_FORM_HTML] = write_explain_html, [PAGE_FORM_TEXT] = write_explain_text},
};
