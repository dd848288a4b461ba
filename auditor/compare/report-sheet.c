// SPDX-License-Identifier: Apache-2.0
#include "auditor/compare/report-sheet.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/charclass.h"
#include "lib/format/escape.h"

enum {
	CELL_MOST = 600, // bytes that are shown of a cell
	WIDTH_MOST = 64, // of a column of text, in characters
};

void report_sheet_release(struct report_sheet *s)
{
	arena_release(&s->text);
	*s = (struct report_sheet){0};
}

// A copy for people, cut at a character: without blanks at its ends; line ends become blanks, and other characters that
// cannot be shown, and what is not UTF-8, become "?".
static const char *clean_copy(struct report_sheet *s, const char *text)
{
	struct str whole = str_trim(str_from(text)), head = str_head(whole, CELL_MOST);
	bool is_utf8 = str_is_utf8(head);
	char *out = arena_alloc(&s->text, head.len + sizeof("…"));
	size_t len = 0;
	for (struct str rest = head; rest.len;) {
		char c = rest.ptr[0];
		size_t bad = !is_utf8 && (c & 0x80) ? 1 : charclass_unshowable(rest);
		out[len++] = c == '\n' || c == '\r' || c == '\t' ? ' ' : bad ? '?' : c;
		rest = str_slice(rest, bad ? bad : 1, rest.len);
	}
	out[len] = '\0';
	if (head.len < whole.len)
		memcpy(out + len, "…", sizeof("…"));
	return out;
}

void report_sheet_begin(struct report_sheet *s, const char *title, const char *words)
{
	s->title = clean_copy(s, title);
	s->words = clean_copy(s, words);
}

void report_sheet_part(struct report_sheet *s, const char *title, const char *const *head, size_t columns)
{
	ARENA_GROW(&s->text, s->part, s->parts, s->room);
	struct sheet_part *p = &s->part[s->parts++];
	*p = (struct sheet_part){.title = title, .columns = columns};
	memcpy(p->head, head, columns * sizeof(*head));
}

void report_sheet_row(struct report_sheet *s, const char *const *cell, bool is_marked)
{
	struct sheet_part *p = &s->part[s->parts - 1];
	ARENA_GROW(&s->text, p->row, p->rows, p->room);
	struct sheet_row *row = &p->row[p->rows++];
	*row = (struct sheet_row){.is_marked = is_marked};
	for (size_t i = 0; i < p->columns; i++)
		row->cell[i] = cell[i] ? clean_copy(s, cell[i]) : "";
}

void report_sheet_note(struct report_sheet *s, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	CLEANUP(mem_free) char *text = xvasprintf(fmt, ap);
	va_end(ap);
	s->part[s->parts - 1].note = clean_copy(s, text);
}

// --- text ---

// In characters, if the text is UTF-8.
static size_t text_width(const char *text)
{
	size_t width = 0;
	for (; *text; text++)
		width += ((unsigned char)*text & 0xc0) != 0x80;
	return width;
}

static void put_text_row(struct buf *out, const char *const *cell, size_t columns, const size_t *width, char mark)
{
	size_t last = columns;
	while (last && !*cell[last - 1])
		last--;
	buf_putc(out, mark);
	buf_putc(out, ' ');
	for (size_t i = 0; i < last; i++) {
		buf_puts(out, cell[i]);
		size_t len = text_width(cell[i]);
		for (size_t k = len; i + 1 < last && k < width[i] + 2; k++)
			buf_putc(out, ' ');
		if (i + 1 < last && len >= width[i] + 2)
			buf_puts(out, "  ");
	}
	buf_putc(out, '\n');
}

static void put_text_part(struct buf *out, const struct sheet_part *p)
{
	size_t width[SHEET_COLUMNS] = {0};
	buf_printf(out, "\n%s\n", p->title);
	for (size_t i = 0; i < p->columns; i++) {
		width[i] = text_width(p->head[i]);
		for (size_t k = 0; k < p->rows; k++) {
			size_t cell = text_width(p->row[k].cell[i]);
			width[i] = cell > width[i] && cell <= WIDTH_MOST ? cell : width[i];
		}
	}
	if (p->rows)
		put_text_row(out, p->head, p->columns, width, ' ');
	for (size_t i = 0; i < p->rows; i++)
		put_text_row(out, p->row[i].cell, p->columns, width, p->row[i].is_marked ? '!' : ' ');
	if (p->note)
		buf_printf(out, "  %s\n", p->note);
}

void report_sheet_text(const struct report_sheet *s, struct buf *out)
{
	buf_printf(out, "%s\n%s\n", s->title, s->words);
	for (size_t i = 0; i < s->parts; i++)
		put_text_part(out, &s->part[i]);
}

// --- Markdown ---

static void put_markdown(struct buf *out, const char *text)
{
	for (; *text; text++) {
		const char *const entity = *text == '<'   ? "&lt;"
					   : *text == '>' ? "&gt;"
					   : *text == '&' ? "&amp;"
							  : NULL;
		if (entity) {
			buf_puts(out, entity);
			continue;
		}
		if (strchr("\\`*_[]|#~!@$", *text))
			buf_putc(out, '\\');
		buf_putc(out, *text);
	}
}

static void put_markdown_row(struct buf *out, const char *const *cell, size_t columns, bool is_marked)
{
	for (size_t i = 0; i < columns; i++) {
		bool is_bold = is_marked && i == 0 && *cell[i];
		buf_puts(out, is_bold ? "| **" : "| ");
		put_markdown(out, cell[i]);
		buf_puts(out, is_bold ? "** " : " ");
	}
	buf_puts(out, "|\n");
}

static void put_markdown_part(struct buf *out, const struct sheet_part *p)
{
	buf_printf(out, "\n## %s\n", p->title);
	if (p->rows) {
		buf_putc(out, '\n');
		put_markdown_row(out, p->head, p->columns, false);
		for (size_t i = 0; i < p->columns; i++)
			buf_puts(out, "| --- ");
		buf_puts(out, "|\n");
	}
	for (size_t i = 0; i < p->rows; i++)
		put_markdown_row(out, p->row[i].cell, p->columns, p->row[i].is_marked);
	if (!p->note)
		return;
	buf_putc(out, '\n');
	put_markdown(out, p->note);
	buf_putc(out, '\n');
}

void report_sheet_markdown(const struct report_sheet *s, struct buf *out)
{
	buf_puts(out, "# ");
	put_markdown(out, s->title);
	buf_puts(out, "\n\n");
	put_markdown(out, s->words);
	buf_putc(out, '\n');
	for (size_t i = 0; i < s->parts; i++)
		put_markdown_part(out, &s->part[i]);
}

// --- HTML ---

static void put_html(struct buf *out, const char *front, const char *text, const char *back)
{
	buf_puts(out, front);
	escape_html(out, str_from(text));
	buf_puts(out, back);
}

static void put_html_row(struct buf *out, const struct sheet_row *row, size_t columns)
{
	buf_puts(out, row->is_marked ? "<tr class=\"goes\">" : "<tr>");
	for (size_t i = 0; i < columns; i++)
		put_html(out, i ? "<td class=\"file\">" : "<th scope=\"row\" class=\"file\">", row->cell[i],
			i ? "</td>" : "</th>");
	buf_puts(out, "</tr>\n");
}

static void put_html_part(struct buf *out, const struct sheet_part *p)
{
	put_html(out, "<section>\n<h2>", p->title, "</h2>\n");
	if (p->rows) {
		put_html(out, "<div class=\"card wide builds\" role=\"region\" tabindex=\"0\" aria-label=\"", p->title,
			"\"><table>\n<thead><tr>");
		for (size_t i = 0; i < p->columns; i++)
			put_html(out, *p->head[i] ? "<th scope=\"col\">" : "<td>", p->head[i],
				*p->head[i] ? "</th>" : "</td>");
		buf_puts(out, "</tr></thead>\n<tbody>\n");
		for (size_t i = 0; i < p->rows; i++)
			put_html_row(out, &p->row[i], p->columns);
		buf_puts(out, "</tbody>\n</table></div>\n");
	}
	if (p->note)
		put_html(out, "<p class=\"note\">", p->note, "</p>\n");
	buf_puts(out, "</section>\n");
}

void report_sheet_html(const struct report_sheet *s, struct buf *out)
{
	for (size_t i = 0; i < s->parts; i++)
		put_html_part(out, &s->part[i]);
}
