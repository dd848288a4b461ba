// SPDX-License-Identifier: Apache-2.0
#include "lib/readme/rst-tables.h"

struct rst_table {
	size_t column[LIMIT_README_COLUMNS + 1]; // where each begins, in characters; behind the last one, where it ends
	size_t columns;
	bool is_simple;
};

// The offset in bytes of a character; the length of the text if it has fewer.
static size_t offset_of(struct str text, size_t character)
{
	size_t at = 0;
	while (at < text.len && character) {
		at++;
		while (at < text.len && (text.ptr[at] & 0xc0) == 0x80)
			at++;
		character--;
	}
	return at;
}

static struct str slice_of(struct str text, size_t from, size_t to)
{
	size_t begin = offset_of(text, from);
	return str_slice(text, begin, begin + offset_of(str_slice(text, begin, text.len), to - from));
}

static bool consists_of(struct str text, const char *signs)
{
	for (size_t i = 0; i < text.len; i++)
		if (!text.ptr[i] || !strchr(signs, text.ptr[i]))
			return false;
	return text.len > 0;
}

// Finds the runs of a sign in a border, which are the columns. False: too many.
static bool find_columns(struct rst_table *t, struct str border, char sign)
{
	for (size_t i = 0; i < border.len; i++) {
		bool is_begin = border.ptr[i] == sign && (!i || border.ptr[i - 1] != sign);
		if (is_begin && t->columns == LIMIT_README_COLUMNS)
			return false;
		if (is_begin)
			t->column[t->columns++] = i;
	}
	t->column[t->columns] = border.len + t->is_simple;
	return t->columns > 0;
}

// The text of a column in a line, without the blank or line that parts it from the next one. The last column of a
// simple table goes on to the end of the line.
static struct str cell_line(const struct rst_table *t, struct str text, size_t column)
{
	bool is_last = t->is_simple && column + 1 == t->columns;
	return slice_of(text, t->column[column], is_last ? SIZE_MAX : t->column[column + 1] - 1);
}

static void write_table_row(struct rst *r, const struct rst_table *t, size_t from, size_t to, size_t margin,
	bool is_head)
{
	safe_html_begin(r->w, SAFE_TR);
	for (size_t column = 0; column < t->columns; column++) {
		safe_html_begin(r->w, is_head ? SAFE_TH : SAFE_TD);
		// Writes the lines of a cell as one text.
		CLEANUP(buf_release) struct buf text = buf_up_to(LIMIT_README_HTML);
		for (size_t i = from; i < to; i++) {
			struct str line = str_trim(cell_line(t, rst_text_from(r, i, margin), column));
			if (text.len && line.len)
				buf_putc(&text, '\n');
			buf_str(&text, line);
		}
		rst_inline_write(r, buf_view(&text));
		safe_html_end(r->w);
	}
	safe_html_end(r->w);
}

// --- simple tables ---

static bool is_simple_border(struct str text)
{
	return consists_of(text, "= ") && memchr(text.ptr, ' ', text.len) && text.ptr[0] == '=';
}

// True if the text has a blank wherever two columns part, so that no cell spans both.
static bool fits_columns(const struct rst_table *t, struct str text)
{
	for (size_t c = 1; c < t->columns; c++) {
		struct str gap = slice_of(text, t->column[c] - 1, t->column[c]);
		if (gap.len && gap.ptr[0] != ' ')
			return false;
	}
	return true;
}

// The end of the row that begins in line i: lines with an empty first column go on with it.
static size_t simple_row_end(const struct rst *r, const struct rst_table *t, size_t i, size_t to, size_t margin)
{
	for (i++; i < to && !rst_is_blank(r, i); i++) {
		struct str text = rst_text_from(r, i, margin);
		if (is_simple_border(text) || str_trim(cell_line(t, text, 0)).len)
			break;
	}
	return i;
}

// The border at the end of the table: the second or third one, which a blank line or the end follows.
static size_t simple_table_end(const struct rst *r, size_t i, size_t to, size_t margin, size_t *head_end)
{
	*head_end = 0;
	for (size_t at = i + 1; at < to && (rst_is_blank(r, at) || r->line[at].indent >= margin); at++) {
		if (!is_simple_border(rst_text_from(r, at, margin)))
			continue;
		if (at + 1 == to || rst_is_blank(r, at + 1) || *head_end)
			return at;
		*head_end = at;
	}
	return i;
}

static bool is_plain_table(const struct rst *r, const struct rst_table *t, size_t i, size_t end, size_t margin)
{
	for (; i < end; i++) {
		struct str text = rst_text_from(r, i, margin);
		bool is_span = consists_of(text, "- ") && text.len > 1 && text.ptr[1] == '-';
		if (!is_simple_border(text) && (is_span || !fits_columns(t, text)))
			return false;
	}
	return true;
}

static void write_simple_rows(struct rst *r, const struct rst_table *t, size_t i, size_t end, size_t margin,
	bool is_head)
{
	for (i = rst_skip_blank(r, i, end); i < end; i = rst_skip_blank(r, i, end)) {
		size_t row = simple_row_end(r, t, i, end, margin);
		write_table_row(r, t, i, row, margin, is_head);
		i = row;
	}
}

size_t rst_simple_table(struct rst *r, size_t i, size_t to)
{
	struct rst_table t = {.is_simple = true};
	size_t margin = r->line[i].indent, head, end;
	if (!is_simple_border(rst_text(r, i)) || !find_columns(&t, rst_text(r, i), '='))
		return i;
	end = simple_table_end(r, i, to, margin, &head);
	if (end == i)
		return i;
	if (!is_plain_table(r, &t, i + 1, end, margin)) {
		rst_write_literal(r, i, end + 1);
		return end + 1;
	}
	safe_html_begin(r->w, SAFE_TABLE);
	if (head) {
		safe_html_begin(r->w, SAFE_THEAD);
		write_simple_rows(r, &t, i + 1, head, margin, true);
		safe_html_end(r->w);
	}
	write_simple_rows(r, &t, (head ? head : i) + 1, end, margin, false);
	safe_html_end(r->w);
	return end + 1;
}

// --- grid tables ---

static bool is_grid_border(struct str text, const char *signs)
{
	return consists_of(text, signs) && text.len > 2 && text.ptr[0] == '+' && text.ptr[text.len - 1] == '+';
}

// True if the line has the lines between all columns where the border has its crosses.
static bool is_grid_line(const struct rst_table *t, struct str text)
{
	for (size_t c = 0; c <= t->columns; c++) {
		struct str sign = slice_of(text, t->column[c] - 1, t->column[c]);
		if (!sign.len || sign.ptr[0] != '|')
			return false;
	}
	return true;
}

static bool is_full_border(const struct rst_table *t, struct str text)
{
	for (size_t c = 0; c <= t->columns; c++)
		if (t->column[c] > text.len || text.ptr[t->column[c] - 1] != '+')
			return false;
	return is_grid_border(text, "+-") || is_grid_border(text, "+=");
}

// False: a line is neither a border over all columns nor one of a row.
static bool is_plain_grid(const struct rst *r, const struct rst_table *t, size_t i, size_t end)
{
	for (; i < end; i++)
		if (!is_full_border(t, rst_text(r, i)) && !is_grid_line(t, rst_text(r, i)))
			return false;
	return true;
}

static size_t grid_row_end(const struct rst *r, size_t i, size_t end)
{
	while (i < end && rst_text(r, i).ptr[0] != '+')
		i++;
	return i;
}

static size_t find_head_end(const struct rst *r, size_t i, size_t end)
{
	for (; i < end; i++)
		if (is_grid_border(rst_text(r, i), "+="))
			return i;
	return 0;
}

static void write_grid(struct rst *r, const struct rst_table *t, size_t i, size_t end)
{
	size_t margin = r->line[i].indent, head = find_head_end(r, i, end);
	safe_html_begin(r->w, SAFE_TABLE);
	if (head)
		safe_html_begin(r->w, SAFE_THEAD);
	for (i++; i < end; i++) {
		size_t row = grid_row_end(r, i, end);
		if (row > i)
			write_table_row(r, t, i, row, margin, i < head);
		if (head && row == head)
			safe_html_end(r->w);
		i = row;
	}
	safe_html_end(r->w);
}

size_t rst_grid_table(struct rst *r, size_t i, size_t to)
{
	struct rst_table t = {0};
	size_t margin = r->line[i].indent, end = i;
	if (!is_grid_border(rst_text(r, i), "+-") || !find_columns(&t, rst_text(r, i), '-'))
		return i;
	while (end < to && !rst_is_blank(r, end) && r->line[end].indent == margin &&
		strchr("+|", rst_text(r, end).ptr[0]))
		end++;
	if (is_plain_grid(r, &t, i, end) && is_grid_border(rst_text(r, end - 1), "+-"))
		write_grid(r, &t, i, end);
	else
		rst_write_literal(r, i, end);
	return end;
}
