// SPDX-License-Identifier: Apache-2.0
#include "server/pages/explain-page.h"

#include <inttypes.h>
#include <string.h>

#include "lib/domain/text/filename.h"
#include "lib/format/escape.h"
#include "server/pages/explain-page-losses.h"
#include "server/pages/explain-page-membership.h"
#include "server/pages/explain-page-provenance.h"
#include "server/pages/html-layout.h"

enum { COMPARED_ROWS = 64 }; // so many rows back another wheel is looked for

static void put_words(struct buf *out, const char *text)
{
	escape_html(out, str_from(text ? text : ""));
}

static int64_t count_of(const struct jsondoc *audit, const char *key)
{
	int64_t n = 0;
	if (audit)
		jsondoc_get_int(audit, key, &n);
	return n;
}

// --- the files here ---

static void put_audit_cell(struct buf *out, const struct jsondoc *audit)
{
	const char *unknown = audit ? jsondoc_get_str(audit, "unknown") : NULL;
	int64_t errors = count_of(audit, "errors"), warnings = count_of(audit, "warnings");
	buf_puts(out, "<td>");
	if (unknown)
		buf_puts(out, "unknown");
	else if (errors)
		buf_printf(out, "<span class=\"verdict goes\">%" PRId64 " error%s</span>", errors,
			errors == 1 ? "" : "s");
	else if (warnings)
		buf_printf(out, "%" PRId64 " warning%s", warnings, warnings == 1 ? "" : "s");
	else if (audit)
		buf_puts(out, "good");
	buf_puts(out, "</td>");
}

// One of several notes in a cell.
static void put_note(struct buf *out, size_t *notes, const char *words, const char *text)
{
	if (!text || !*text)
		return;
	buf_puts(out, (*notes)++ ? "; " : "");
	buf_puts(out, words);
	put_words(out, text);
}

// Who uploaded or removed it, if the reader is told.
static void put_people(struct buf *out, size_t *notes, const struct jsondoc *row)
{
	const struct jsondoc *removal = jsondoc_get(row, "removal");
	const char *when = jsondoc_get_str(row, "uploaded");
	put_note(out, notes, "uploaded by ", jsondoc_get_str(row, "uploaded_by"));
	if (when)
		buf_printf(out, ", %.10s", when);
	put_note(out, notes, "removed by ", removal ? jsondoc_get_str(removal, "by") : NULL);
}

static void put_why_cell(struct buf *out, const struct jsondoc *row)
{
	const struct jsondoc *plan = jsondoc_get(row, "plan"), *audit = jsondoc_get(row, "audit");
	size_t notes = 0;
	buf_puts(out, "<td class=\"why full\">");
	put_note(out, &notes, "", jsondoc_get_str(row, "reason"));
	put_people(out, &notes, row);
	put_note(out, &notes, "the view shows the file of ", jsondoc_get_str(row, "hidden-by"));
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
	for (size_t k = 0; k < ARRAY_SIZE(part); k++) {
		buf_putc(out, '/');
		escape_url(out, str_from(part[k]));
	}
	buf_puts(out, "\" title=\"with ");
	put_words(out, has_same(row, other, "platform") ? part[1] : part[0]);
	buf_puts(out, "\">compare</a>");
}

static void put_files(struct buf *out, const struct jsondoc *here, const char *up)
{
	static const char *const column[] = {"File", "Platform", "State", "Audit", "Why"};
	if (!jsondoc_count(here)) {
		buf_puts(out, "<p class=\"note\">No file is here.</p>\n");
		return;
	}
	html_begin_table(out, "Files", "card wide", column, ARRAY_SIZE(column));
	for (size_t i = 0; i < jsondoc_count(here); i++) {
		const struct jsondoc *row = jsondoc_at(here, i);
		buf_puts(out, "<tr><th scope=\"row\" class=\"file\">");
		put_words(out, jsondoc_get_str(row, "filename"));
		put_compare_link(out, here, i, up);
		buf_puts(out, "</th><td>");
		put_words(out, jsondoc_get_str(row, "platform"));
		buf_puts(out, "</td><td>");
		put_words(out, jsondoc_get_str(row, "state"));
		buf_puts(out, "</td>");
		put_audit_cell(out, jsondoc_get(row, "audit"));
		put_why_cell(out, row);
		buf_puts(out, "</tr>\n");
	}
	html_end_table(out);
}

// --- what the audit finds ---

static void put_finding(struct buf *out, const struct jsondoc *finding)
{
	const char *level = jsondoc_get_str(finding, "level"), *rule = jsondoc_get_str(finding, "rule");
	bool is_error = level && strcmp(level, "error") == 0;
	buf_printf(out, "<tr><td><span class=\"verdict%s\">", is_error ? " goes" : "");
	put_words(out, level);
	buf_puts(out, "</span></td><td>");
	put_words(out, jsondoc_get_str(finding, "code"));
	if (rule) {
		buf_puts(out, " of the rule ");
		put_words(out, rule);
	}
	buf_puts(out, "</td><td class=\"file\">");
	put_words(out, jsondoc_get_str(finding, "member"));
	buf_puts(out, "</td><td class=\"why full\">");
	put_words(out, jsondoc_get_str(finding, "why"));
	buf_puts(out, "</td></tr>\n");
}

static void put_findings(struct buf *out, const struct jsondoc *row, bool is_first)
{
	static const char *const column[] = {"Level", "Finding", "Member", "Why"};
	const struct jsondoc *audit = jsondoc_get(row, "audit");
	const struct jsondoc *findings = audit ? jsondoc_get(audit, "findings") : NULL;
	int64_t all = count_of(audit, "errors") + count_of(audit, "warnings");
	buf_puts(out, is_first ? "<h2>What the audit finds</h2>\n<p class=\"note\">" : "<p class=\"note\">");
	put_words(out, jsondoc_get_str(row, "filename"));
	buf_puts(out, " of ");
	put_words(out, jsondoc_get_str(row, "platform"));
	buf_puts(out, "</p>\n");
	CLEANUP(mem_free)
	char *label = xasprintf("What the audit finds in %s of %s", jsondoc_get_str(row, "filename"),
		jsondoc_get_str(row, "platform"));
	html_begin_table(out, label, "card wide", column, ARRAY_SIZE(column));
	for (size_t i = 0; i < jsondoc_count(findings); i++)
		put_finding(out, jsondoc_at(findings, i));
	html_end_table(out);
	if (all > (int64_t)jsondoc_count(findings))
		buf_printf(out, "<p class=\"note\">These are the first %zu of %" PRId64 ".</p>\n",
			jsondoc_count(findings), all);
}

static void put_audits(struct buf *out, const struct jsondoc *here)
{
	bool is_first = true;
	for (size_t i = 0; i < jsondoc_count(here); i++) {
		const struct jsondoc *audit = jsondoc_get(jsondoc_at(here, i), "audit");
		const struct jsondoc *findings = audit ? jsondoc_get(audit, "findings") : NULL;
		if (!findings || !jsondoc_count(findings))
			continue;
		put_findings(out, jsondoc_at(here, i), is_first);
		is_first = false;
	}
}

// --- upstream, and what pip takes ---

static void put_upstream(struct buf *out, const struct jsondoc *upstream)
{
	const char *why = jsondoc_get_str(upstream, "why"), *index = jsondoc_get_str(upstream, "index");
	int64_t files = 0;
	buf_puts(out, "<h2>Upstream</h2>\n<p class=\"note\">");
	put_words(out, index);
	buf_puts(out, index ? ": " : "");
	put_words(out, jsondoc_get_str(upstream, "result"));
	if (why && *why) {
		buf_puts(out, ", ");
		put_words(out, why);
	}
	if (jsondoc_get_int(upstream, "files", &files))
		buf_printf(out, ", %" PRId64 " file%s", files, files == 1 ? "" : "s");
	buf_puts(out, "</p>\n");
}

static void put_taken(struct buf *out, const struct jsondoc *environment, const char *key, const char *words)
{
	const struct jsondoc *choice = jsondoc_get(environment, key);
	buf_printf(out, "<td class=\"why kind full\" data-of=\"%s\">", words);
	put_words(out, choice ? jsondoc_get_str(choice, "filename") : "–");
	buf_puts(out, "</td>");
}

static void put_environments(struct buf *out, const struct jsondoc *rows)
{
	static const char *const column[] = {"Platform", "From here", "From upstream", "From both", "Clients of this view get"};
	if (!jsondoc_count(rows))
		return;
	buf_puts(out, "<h2>What pip takes</h2>\n");
	html_begin_table(out, "What pip takes", "card wide", column, ARRAY_SIZE(column));
	for (size_t i = 0; i < jsondoc_count(rows); i++) {
		const struct jsondoc *row = jsondoc_at(rows, i);
		buf_puts(out, "<tr><th scope=\"row\">");
		put_words(out, jsondoc_get_str(row, "platform"));
		buf_puts(out, ", Python ");
		put_words(out, jsondoc_get_str(row, "python"));
		buf_puts(out, "</th>");
		put_taken(out, row, "here", column[1]);
		put_taken(out, row, "upstream", column[2]);
		put_taken(out, row, "both", column[3]);
		put_taken(out, row, "client", column[4]);
		buf_puts(out, "</tr>\n");
	}
	html_end_table(out);
}

// --- the whole ---

static void put_links(struct buf *out, const struct jsondoc *explanation, const char *up)
{
	CLEANUP(buf_release) struct buf links;
	buf_init(&links, 4096);
	buf_printf(&links, "<a href=\"?format=text\">text</a> · <a href=\"?format=json\">JSON</a>");
	const struct jsondoc *builds = jsondoc_get(explanation, "builds");
	if (builds && jsondoc_count(builds)) {
		buf_printf(&links, " · <a href=\"%s/builds/", up);
		escape_url(&links, str_from(jsondoc_get_str(explanation, "project")));
		buf_puts(&links, "/\">builds</a>");
	}
	buf_printf(&links, " · <a href=\"%s/project/", up);
	escape_url(&links, str_from(jsondoc_get_str(explanation, "project")));
	buf_puts(&links, "\">project</a>");
	html_end(out, links.data);
}

void explain_page_write(const struct html_frame *frame, const struct jsondoc *explanation, struct buf *out)
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
	html_begin(out, frame, title, words);
	explain_page_lost_state(jsondoc_get(explanation, "lost"), out);
	if (errors)
		buf_printf(out, "<span class=\"state still busy\">%" PRId64 " error%s</span>", errors,
			errors == 1 ? "" : "s");
	buf_puts(out, "</header>\n");
	explain_page_losses(jsondoc_get(explanation, "lost"), up, out);
	put_files(out, here, up);
	explain_page_membership(explanation, up, out);
	put_audits(out, here);
	explain_page_provenance(explanation, up, out);
	put_upstream(out, jsondoc_get(explanation, "upstream"));
	put_environments(out, jsondoc_get(explanation, "environments"));
	put_links(out, explanation, up);
}
