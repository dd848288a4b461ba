// SPDX-License-Identifier: Apache-2.0
#include "server/pages/usage-page.h"

#include <inttypes.h>
#include <string.h>

#include "lib/base/limits.h"
#include "lib/format/escape.h"

static void put_usage_form(struct buf *out, const struct usage_page_query *q)
{
	buf_puts(out, "<form method=\"get\" action=\"./\"><select name=\"by\" aria-label=\"By\">");
	for (int i = 0; i < USAGE_BY_COUNT; i++)
		buf_printf(out, "<option value=\"%s\"%s>By %s</option>", usage_by_name[i],
			q->by == (enum usage_by)i ? " selected" : "", usage_by_name[i]);
	buf_puts(out, "</select><input type=\"search\" name=\"project\" placeholder=\"Project\" aria-label=\"Project\" "
		      "autocapitalize=\"none\" spellcheck=\"false\" value=\"");
	html_text(out, q->project);
	buf_puts(out, "\"><button>Show</button></form>\n");
}

static void put_day(struct buf *out, const char *name, int64_t when)
{
	char day[CLOCK_TEXT];
	usage_write_date(when, day);
	if (when)
		buf_printf(out, "<td class=\"name kind\" data-of=\"%s\">%s</td>", name, day);
	else
		buf_puts(out, "<td class=\"zero\">–</td>");
}

static void put_usage_name(struct buf *out, enum usage_by by, const struct usage_row *row)
{
	if (by == USAGE_PROJECT || by == USAGE_VERSION) {
		html_begin_project_row(out, "../", row->name);
		return;
	}
	buf_puts(out, "<tr><th scope=\"row\">");
	html_text(out, row->name);
	buf_puts(out, "</th>");
}

static void put_usage_row(struct buf *out, enum usage_by by, const struct usage_row *row)
{
	put_usage_name(out, by, row);
	if (by == USAGE_VERSION) {
		buf_puts(out, "<td class=\"name\">");
		html_text(out, row->version);
		buf_puts(out, "</td>");
	}
	buf_puts(out, "<td class=\"n\" data-of=\"\">");
	html_size(out, row->bytes);
	buf_puts(out, "</td>");
	html_count_cell(out, row->files, "file");
	put_day(out, "newest", row->newest);
	put_day(out, "last download", row->downloaded);
	buf_puts(out, "</tr>\n");
}

static void put_usage_table(struct buf *out, enum usage_by by, const struct usage *u)
{
	static const char *const name[USAGE_BY_COUNT] = {"Platform", "Project", "Project", "Age"};
	const char *column[6] = {name[by], "Version", "Size", "Files", "Newest", "Last download"};
	size_t columns = ARRAY_SIZE(column);
	if (by != USAGE_VERSION) {
		columns--;
		memmove(column + 1, column + 2, (columns - 1) * sizeof(*column));
	}
	html_begin_table(out, "Usage", "card wide", column, columns);
	for (size_t i = 0; i < u->rows; i++)
		put_usage_row(out, by, &u->row[i]);
	html_end_table(out);
}

// The same question with another number of rows, or in another form.
static void put_usage_link(struct buf *out, const struct usage_page_query *q, size_t limit, const char *format,
	const char *words)
{
	buf_printf(out, "<a href=\"./?by=%s", usage_by_name[q->by]);
	if (*q->project) {
		buf_puts(out, "&amp;project=");
		escape_url(out, str_from(q->project));
	}
	if (limit)
		buf_printf(out, "&amp;limit=%zu", limit);
	buf_printf(out, "%s%s\">%s</a>", *format ? "&amp;format=" : "", format, words);
}

int usage_page_write(const struct html_frame *frame, const struct usage_page_query *q, const struct usage *u,
	struct buf *out, struct err *e)
{
	html_begin(out, frame, "Usage", "Files and bytes of what is listed, and when they were last downloaded");
	buf_puts(out, "</header>\n<dl>");
	html_total(out, "Files", u->total.files);
	buf_puts(out, "<div><dt>Size</dt><dd>");
	html_size(out, u->total.bytes);
	buf_puts(out, "</dd></div></dl>\n");
	put_usage_form(out, q);
	if (u->rows)
		put_usage_table(out, q->by, u);
	else
		buf_puts(out, "<p class=\"note\">There is no such file.</p>\n");
	if (u->cut)
		buf_printf(out, "<p class=\"note\">These are the first %zu of %zu rows.</p>\n", u->rows, u->rows + u->cut);
	buf_puts(out, "<nav aria-label=\"Forms\">");
	if (u->cut && q->limit < LIMIT_USAGE_ROWS)
		put_usage_link(out, q, 4 * q->limit, "", "Show more");
	put_usage_link(out, q, 0, "csv", "CSV");
	put_usage_link(out, q, 0, "json", "JSON");
	buf_puts(out, "</nav>\n");
	html_end(out, "<a href=\"../docs/operating.md\">what takes room</a>");
	return out->failed ? err_set(e, ERR_LIMIT, "page larger than %zu bytes", out->cap) : 0;
}
