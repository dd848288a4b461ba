// SPDX-License-Identifier: Apache-2.0
#include "server/pages/missing-page.h"

#include <inttypes.h>
#include <string.h>

#include "lib/format/escape.h"
#include "lib/os/clock.h"
#include "server/pages/html-layout.h"

enum { MOST_ROWS = 5000 };

static void put_escaped(struct buf *out, const char *text)
{
	escape_html(out, str_from(text));
}

// A link to the same page with another query.
static void put_link(const struct missing_page_query *q, const char *python, bool wants_all, const char *words,
	struct buf *out)
{
	const char *const part[][2] = {{"python", python}, {"project", q->project}, {"all", wants_all ? "1" : ""}};
	buf_puts(out, "<a href=\"");
	escape_url(out, str_from(q->platform));
	buf_puts(out, "?format=html");
	for (size_t i = 0; i < ARRAY_SIZE(part); i++) {
		if (!*part[i][1])
			continue;
		buf_printf(out, "&amp;%s=", part[i][0]);
		escape_url(out, str_from(part[i][1]));
	}
	buf_puts(out, "\">");
	put_escaped(out, words);
	buf_puts(out, "</a>");
}

static void put_sums(const struct missing *m, const struct missing_page_query *q, struct buf *out)
{
	html_begin_box(out, "Totals", "card wide");
	buf_puts(out, "<table class=\"sums\">\n<thead><tr><th scope=\"col\">Python</th>");
	for (size_t i = 0; i < WHEEL_STATUSES_OF_MISSING; i++)
		if (missing_has_column(m, wheel_status_shown[i]))
			buf_printf(out, "<th scope=\"col\" class=\"n\">%s</th>",
				wheel_status_name[wheel_status_shown[i]]);
	buf_puts(out, "</tr></thead>\n<tbody>\n");
	for (size_t i = 0; i < m->environments; i++) {
		buf_puts(out, "<tr><th scope=\"row\">");
		put_link(q, m->environment[i].python, q->wants_all, m->environment[i].python, out);
		buf_puts(out, "</th>");
		for (size_t k = 0; k < WHEEL_STATUSES_OF_MISSING; k++) {
			uint64_t n = m->environment[i].total[wheel_status_shown[k]];
			if (!missing_has_column(m, wheel_status_shown[k]))
				continue;
			buf_printf(out, "<td class=\"n%s\" data-of=\"%s\">", n ? "" : " zero",
				wheel_status_name[wheel_status_shown[k]]);
			html_count(out, n);
			buf_puts(out, "</td>");
		}
		buf_puts(out, "</tr>\n");
	}
	buf_puts(out, "</tbody>\n</table></div>\n");
}

// To the project's page of this version, if there is something to be shown.
static void put_project_link(const struct missing_row *row, struct buf *out)
{
	bool is_known = row->status != WHEEL_UNKNOWN && row->status != WHEEL_IMPOSSIBLE;
	if (is_known) {
		buf_puts(out, "<a href=\"../project/");
		escape_url(out, str_from(row->project));
		buf_puts(out, row->version ? "?version=" : "");
		escape_url(out, str_from(row->version ? row->version : ""));
		buf_puts(out, "\">");
	}
	put_escaped(out, row->project);
	buf_puts(out, is_known ? "</a>" : "");
}

static void put_wanted_row(const struct missing_row *row, struct buf *out)
{
	bool is_bad = row->status == WHEEL_FAILED || row->status == WHEEL_UNKNOWN;
	buf_puts(out, "<tr><th scope=\"row\">");
	put_project_link(row, out);
	buf_putc(out, ' ');
	put_escaped(out, row->version ? row->version : "");
	buf_printf(out, "</th><td><span class=\"verdict%s\">%s</span></td><td class=\"why full\">",
		is_bad ? " goes" : "", wheel_status_name[row->status]);
	put_escaped(out, row->why);
	if (row->attempts.result) {
		buf_puts(out, " (<a href=\"../builds/");
		escape_url(out, str_from(row->project));
		buf_puts(out, "/\">attempts</a>)");
	}
	buf_puts(out, "</td><td class=\"why kind\" data-of=\"for\">");
	for (size_t i = 0; i < row->branches; i++) {
		buf_puts(out, i ? ", " : "");
		put_escaped(out, row->branch[i]);
	}
	buf_puts(out, "</td></tr>\n");
}

static bool is_next_python(const struct missing *m, size_t i)
{
	return !i || strcmp(m->row[i].python, m->row[i - 1].python) != 0;
}

static void put_wanted_rows(const struct missing *m, struct buf *out)
{
	static const char *const column[] = {"Project", "Status", "Why", "Branches"};
	size_t rows = m->rows < MOST_ROWS ? m->rows : MOST_ROWS;
	for (size_t i = 0; i < rows; i++) {
		if (is_next_python(m, i)) {
			buf_puts(out, i ? "</tbody>\n</table></div>\n<h2>Python " : "<h2>Python ");
			put_escaped(out, m->row[i].python);
			buf_puts(out, "</h2>\n");
			CLEANUP(mem_free) char *label = xasprintf("Python %s", m->row[i].python);
			html_begin_table(out, label, "card wide", column, ARRAY_SIZE(column));
		}
		put_wanted_row(&m->row[i], out);
	}
	buf_puts(out, rows ? "</tbody>\n</table></div>\n" : "<p class=\"note\">Nothing needs attention.</p>\n");
	if (rows < m->rows)
		buf_printf(out, "<p class=\"note\">These are the first %zu of %zu rows; the JSON has all.</p>\n", rows,
			m->rows);
}

static void put_branch_notes(const struct missing *m, struct buf *out)
{
	for (size_t i = 0; i < m->branches; i++) {
		if (!m->branch[i].is_over)
			continue;
		buf_puts(out, "<p class=\"note\">Branch ");
		put_escaped(out, m->branch[i].name);
		buf_puts(out, " wants nothing: its last day was ");
		put_escaped(out, m->branch[i].until ? m->branch[i].until : "");
		buf_puts(out, ".</p>\n");
	}
}

static void put_page_links(const struct missing_page_query *q, struct buf *out)
{
	buf_puts(out, "<nav aria-label=\"What is shown\">");
	put_link(q, "", q->wants_all, "All Pythons", out);
	put_link(q, q->python, !q->wants_all, q->wants_all ? "Only what needs attention" : "Every status", out);
	buf_puts(out, "</nav>\n");
}

int missing_page_write(const struct html_frame *frame, const struct missing *m, const struct missing_page_query *query,
	struct buf *out, struct err *e)
{
	char made[CLOCK_TEXT];
	clock_write(m->made, made);
	CLEANUP(mem_free) char *title = xasprintf("Missing on %s", query->platform);
	html_begin(out, frame, title, "What branches want, and no wheel covers");
	uint64_t missing = m->total[WHEEL_MISSING];
	buf_printf(out, "<span class=\"state still%s\">%" PRIu64 " missing</span></header>\n", missing ? " busy" : "",
		missing);
	put_sums(m, query, out);
	buf_printf(out,
		"<p class=\"note\">As of <time datetime=\"%s\">%.10s %.5s UTC</time>, by the last answers of "
		"upstream.</p>\n",
		made, made, made + 11);
	put_branch_notes(m, out);
	put_page_links(query, out);
	put_wanted_rows(m, out);
	html_end(out, "<a href=\"?format=json\">JSON</a>");
	return out->failed ? err_set(e, ERR_LIMIT, "page of what is missing: larger than %zu bytes", out->cap) : 0;
}
