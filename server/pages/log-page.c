// SPDX-License-Identifier: Apache-2.0
#include "server/pages/log-page.h"

#include <string.h>

#include "lib/base/limits.h"
#include "lib/domain/text/name.h"
#include "lib/format/escape.h"

static int check_log_size(const struct buf *out, struct err *e)
{
	return out->failed ? err_set(e, ERR_LIMIT, "/-/log/: more than %zu bytes", out->cap) : 0;
}

static bool has_more(const struct log_data *d)
{
	return d->first > 0 || !d->is_whole;
}

// --- for programs ---

int log_json_write(const struct log_data *d, struct buf *out, struct err *e)
{
	buf_puts(out, "{\"entries\": [\n");
	for (size_t i = d->first; i < d->lines; i++) {
		if (i > d->first)
			buf_putc(out, ',');
		audit_entry_json(&d->line[i].entry, d->line[i].time, out);
	}
	buf_printf(out, "], \"more\": %s}\n", has_more(d) ? "true" : "false");
	return check_log_size(out, e);
}

int log_text_write(const struct log_data *d, struct buf *out, struct err *e)
{
	for (size_t i = d->first; i < d->lines; i++) {
		CLEANUP(buf_release) struct buf line;
		buf_init(&line, SIZE_MAX / 2); // each field is bounded
		audit_entry_text(&d->line[i].entry, d->line[i].time, &line);
		escape_terminal_line(out, "%s", line.data);
	}
	return check_log_size(out, e);
}

// --- for people ---

static void put_log_field(struct buf *out, const char *label, const char *name, const char *value)
{
	buf_printf(out,
		"<input name=\"%s\" aria-label=\"%s\" placeholder=\"%s\" autocapitalize=\"none\" spellcheck=\"false\" "
		"value=\"",
		name, label, label);
	html_text(out, value);
	buf_puts(out, "\">");
}

static void put_log_cell(struct buf *out, const char *class, const char *text)
{
	buf_printf(out, "<td class=\"%s\">", class);
	html_text(out, text ? text : "");
	buf_puts(out, "</td>");
}

static void put_log_what(struct buf *out, const struct audit_entry *a)
{
	buf_puts(out, "<td class=\"file\">");
	bool has_page = a->project && name_is_valid(str_from(a->project)); // a token's line has a glob
	if (has_page) {
		buf_puts(out, "<a href=\"../project/");
		escape_url(out, str_from(a->project));
		buf_puts(out, "\">");
	}
	html_text(out, a->file ? a->file : a->project ? a->project : "");
	buf_puts(out, has_page ? "</a>" : "");
	buf_puts(out, a->view ? " in the view " : "");
	html_text(out, a->view ? a->view : "");
	buf_puts(out, "</td>");
}

// Day and time, without fractions of a second; what is no time stays as it is.
static void put_log_time(struct buf *out, const char *time)
{
	enum { DAY = 10, SECOND = 19 };
	CLEANUP(buf_release) struct buf parts;
	buf_init(&parts, sizeof("2026-01-02 03:04:05 UTC"));
	if (strlen(time) > SECOND && time[DAY] == 'T') {
		buf_printf(&parts, "%.10s %.8s UTC", time, time + DAY + 1);
		time = parts.data;
	}
	html_text(out, time);
}

static void put_log_row(struct buf *out, const struct log_line *l)
{
	const struct audit_entry *a = &l->entry;
	bool is_done = a->result && strcmp(a->result, "done") == 0;
	buf_puts(out, "<tr><th scope=\"row\">");
	put_log_time(out, l->time);
	buf_puts(out, "</th>");
	put_log_cell(out, "name", a->who);
	put_log_cell(out, "name", a->peer);
	put_log_cell(out, "name", a->action);
	put_log_cell(out, "name", a->platform);
	put_log_what(out, a);
	buf_printf(out, "<td><span class=\"verdict%s\">", is_done ? " good" : " goes");
	html_text(out, a->result ? a->result : "");
	buf_puts(out, "</span></td>");
	put_log_cell(out, "why full", a->reason);
	buf_puts(out, "</tr>\n");
}

static void put_log_rows(struct buf *out, const struct log_data *d)
{
	static const char *const column[] = {"Time", "Who", "From", "Action", "Platform", "What", "Result", "Why"};
	if (d->first == d->lines) {
		buf_puts(out, "<p class=\"note\">There is no such entry that your token may see.</p>\n");
		return;
	}
	html_begin_table(out, "Entries", "card wide builds", column, ARRAY_SIZE(column));
	for (size_t i = d->lines; i-- > d->first;)
		put_log_row(out, &d->line[i]);
	html_end_table(out);
}

static void put_log_link(struct buf *out, const struct log_page_query *q, size_t limit, const char *format,
	const char *words)
{
	buf_puts(out, "<a href=\"./?q=");
	escape_url(out, str_from(q->subject));
	buf_puts(out, "&amp;since=");
	escape_url(out, str_from(q->since));
	if (limit)
		buf_printf(out, "&amp;limit=%zu", limit);
	buf_printf(out, "%s%s\">%s</a>", *format ? "&amp;format=" : "", format, words);
}

int log_page_write(const struct html_frame *frame, const struct log_page_query *q, const struct log_data *d,
	struct buf *out, struct err *e)
{
	html_begin(out, frame, "Log", "Who did what to which file");
	buf_puts(out, "</header>\n<form method=\"get\" action=\"./\">");
	put_log_field(out, "File or project", "q", q->subject);
	put_log_field(out, "Since 2026-11-22, or 7d", "since", q->since);
	buf_puts(out, "<button>Show</button></form>\n");
	put_log_rows(out, d);
	if (!d->is_whole)
		buf_puts(out, "<p class=\"note\">Older entries are in the log on the server: wheelcache log.</p>\n");
	buf_puts(out, "<nav aria-label=\"Forms\">");
	if (d->first && q->limit < LIMIT_LOG_ROWS)
		put_log_link(out, q, 4 * q->limit, "", "Show more");
	put_log_link(out, q, 0, "json", "JSON");
	put_log_link(out, q, 0, "text", "Text");
	buf_puts(out, "</nav>\n");
	html_end(out, "<a href=\"../docs/operating.md\">how the log is kept</a>");
	return check_log_size(out, e);
}
