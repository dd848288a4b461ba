// SPDX-License-Identifier: Apache-2.0
#include "lib/readme/rst-lines.h"

void rst_lines_split(struct rst *r, struct str text)
{
	while (text.len) {
		struct str line = str_cut(&text, '\n');
		size_t indent = 0;
		while (line.len && line.ptr[line.len - 1] == ' ')
			line.len--;
		while (indent < line.len && line.ptr[indent] == ' ')
			indent++;
		GROW(r->line, r->count, r->room);
		r->line[r->count++] = (struct rst_line){line, indent};
	}
}

struct str rst_text(const struct rst *r, size_t i)
{
	return rst_text_from(r, i, r->line[i].indent);
}

struct str rst_text_from(const struct rst *r, size_t i, size_t column)
{
	struct str text = r->line[i].text;
	return str_slice(text, column < text.len ? column : text.len, text.len);
}

size_t rst_body_end(const struct rst *r, size_t i, size_t to, size_t margin)
{
	size_t end = i;
	for (; i < to && (rst_is_blank(r, i) || r->line[i].indent > margin); i++)
		end = rst_is_blank(r, i) ? end : i + 1;
	return end;
}

size_t rst_skip_blank(const struct rst *r, size_t i, size_t to)
{
	while (i < to && rst_is_blank(r, i))
		i++;
	return i;
}

size_t rst_least_indent(const struct rst *r, size_t i, size_t to)
{
	size_t least = SIZE_MAX;
	for (; i < to; i++)
		if (!rst_is_blank(r, i) && r->line[i].indent < least)
			least = r->line[i].indent;
	return least;
}

// The lines behind the first one decide about the margin, since people align them in several ways.
void rst_write_item(struct rst *r, size_t i, size_t end, size_t column)
{
	struct rst_line first = r->line[i];
	size_t margin = rst_least_indent(r, i + 1, end);
	if (column >= first.text.len) { // the text begins in a line below
		if (margin != SIZE_MAX)
			r->blocks(r, i + 1, end, margin);
		return;
	}
	// The marker counts as blanks.
	while (column < first.text.len && first.text.ptr[column] == ' ')
		column++;
	margin = margin < column ? margin : column;
	r->line[i].text = str_slice(first.text, column - margin, first.text.len);
	r->line[i].indent = margin;
	r->blocks(r, i, end, margin);
	r->line[i] = first;
}

void rst_write_literal(struct rst *r, size_t from, size_t to)
{
	size_t margin = rst_least_indent(r, from, to);
	safe_html_begin(r->w, SAFE_PRE);
	safe_html_begin(r->w, SAFE_CODE);
	for (size_t i = from; i < to; i++) {
		safe_html_text(r->w, rst_text_from(r, i, margin));
		safe_html_text(r->w, STR("\n"));
	}
	safe_html_end(r->w);
	safe_html_end(r->w);
}

bool rst_is_adornment(struct str text, size_t least)
{
	if (text.len < least || !text.len || text.ptr[0] <= ' ' || text.ptr[0] > '~' || ascii_is_alnum(text.ptr[0]))
		return false;
	for (size_t i = 1; i < text.len; i++)
		if (text.ptr[i] != text.ptr[0])
			return false;
	return true;
}
