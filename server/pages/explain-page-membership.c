// SPDX-License-Identifier: Apache-2.0
#include "server/pages/explain-page-membership.h"

#include <inttypes.h>
#include <string.h>

#include "lib/format/escape.h"
#include "lib/state/config/promotion-rules.h"
#include "server/pages/html-layout.h"

static int64_t number_under(const struct jsondoc *doc, const char *key)
{
	int64_t n = 0;
	jsondoc_get_int(doc, key, &n);
	return n;
}

static void put_view_links(struct buf *out, const struct jsondoc *views, const char *up)
{
	buf_puts(out, "<td>");
	for (size_t i = 0; views && i < jsondoc_count(views); i++) {
		buf_printf(out, "%s<a href=\"%s/channel/", i ? ", " : "", up);
		escape_url(out, str_from(jsondoc_at_str(views, i)));
		buf_puts(out, "/\">");
		html_text(out, jsondoc_at_str(views, i));
		buf_puts(out, "</a>");
	}
	buf_puts(out, "</td>");
}

// "unit", as a link to the record if there is one, and where the tests ran.
static void put_kind(struct buf *out, const struct jsondoc *record, const char *up)
{
	const char *id = jsondoc_get_str(record, "evidence");
	if (id) {
		buf_printf(out, "<a href=\"%s/evidence/", up);
		escape_url(out, str_from(id));
		buf_puts(out, "\">");
	}
	html_text(out, jsondoc_get_str(record, "kind"));
	buf_puts(out, id ? "</a> on " : " on ");
	html_text(out, jsondoc_get_str(record, "platform"));
	buf_puts(out, ", Python ");
	html_text(out, jsondoc_get_str(record, "python"));
	buf_puts(out, ": ");
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
		buf_puts(out, "<span class=\"verdict wrong\">override</span> ");
		html_text(out, override);
	} else
		buf_printf(out, "%" PRId64 " passed, %" PRId64 " failed, %" PRId64 " skipped",
			number_under(r, "passed"), number_under(r, "failed"), number_under(r, "skipped"));
	if (jsondoc_get_str(r, "by")) {
		buf_puts(out, " (");
		html_text(out, jsondoc_get_str(r, "by"));
		buf_putc(out, ')');
	}
	put_tested(out, r);
	buf_puts(out, "</div>");
}

static void put_lack(struct buf *out, const struct jsondoc *lack, const char *up)
{
	const char *result = jsondoc_get_str(lack, "result"), *why = jsondoc_get_str(lack, "why");
	buf_puts(out, "<div>");
	put_kind(out, lack, up);
	buf_printf(out, "<span class=\"verdict%s\">", strcmp(result, "red") == 0 ? " wrong" : "");
	html_text(out, result);
	buf_puts(out, "</span> ");
	html_text(out, why ? why : "");
	put_tested(out, lack);
	buf_puts(out, "</div>");
}

static void put_member_cells(struct buf *out, const struct jsondoc *m, const char *up)
{
	const struct jsondoc *evidence = jsondoc_get(m, "evidence");
	const char *made = jsondoc_get_str(m, "made"), *by = jsondoc_get_str(m, "by");
	const char *reason = jsondoc_get_str(m, "reason");
	buf_printf(out, "<td>generation %" PRId64, number_under(m, "generation"));
	buf_printf(out, "%s%.10s", made ? ", " : "", made ? made : "");
	if (by) {
		buf_puts(out, ", by ");
		html_text(out, by);
	}
	buf_puts(out, reason ? ": " : "");
	html_text(out, reason ? reason : "");
	buf_puts(out, "</td><td class=\"why full\">");
	for (size_t i = 0; evidence && i < jsondoc_count(evidence); i++)
		put_record(out, jsondoc_at(evidence, i), up);
	buf_puts(out, "</td>");
}

static void put_outsider_cells(struct buf *out, const struct jsondoc *m, const char *up)
{
	const struct jsondoc *lacks = jsondoc_get(m, "lacks");
	const char *why = jsondoc_get_str(m, "why");
	buf_puts(out, "<td><span class=\"verdict goes\">not a member</span></td><td class=\"why full\">");
	if (!lacks || !jsondoc_count(lacks))
		html_text(out, why ? why : "");
	for (size_t i = 0; lacks && i < jsondoc_count(lacks); i++)
		put_lack(out, jsondoc_at(lacks, i), up);
	buf_puts(out, "</td>");
}

static void put_membership_row(struct buf *out, const struct jsondoc *row, bool has_membership, const char *up)
{
	const struct jsondoc *m = jsondoc_get(row, "membership");
	buf_puts(out, "<tr><th scope=\"row\" class=\"file\">");
	html_text(out, jsondoc_get_str(row, "filename"));
	buf_puts(out, "</th><td>");
	html_text(out, jsondoc_get_str(row, "platform"));
	buf_puts(out, "</td>");
	put_view_links(out, jsondoc_get(row, "views"), up);
	if (has_membership && m && jsondoc_is_true(m, "member"))
		put_member_cells(out, m, up);
	else if (has_membership && m)
		put_outsider_cells(out, m, up);
	buf_puts(out, "</tr>\n");
}

static bool has_key(const struct jsondoc *rows, const char *key)
{
	for (size_t i = 0; i < jsondoc_count(rows); i++)
		if (jsondoc_get(jsondoc_at(rows, i), key))
			return true;
	return false;
}

void explain_page_membership(const struct jsondoc *explanation, const char *up, struct buf *out)
{
	static const char *const column[] = {"File", "Platform", "Views", "Member since", "Evidence"};
	const struct jsondoc *here = jsondoc_get(explanation, "here");
	bool has_membership = has_key(here, "membership");
	if (!has_membership && !has_key(here, "views"))
		return;
	buf_puts(out, "<h2>Views</h2>\n");
	html_begin_table(out, "Views", "card wide builds", column, has_membership ? 5 : 3);
	for (size_t i = 0; i < jsondoc_count(here); i++) {
		const struct jsondoc *row = jsondoc_at(here, i);
		if (jsondoc_get(row, "views") || jsondoc_get(row, "membership"))
			put_membership_row(out, row, has_membership, up);
	}
	html_end_table(out);
}
