// SPDX-License-Identifier: Apache-2.0
#include "lib/readme/rst-lists.h"

#include "lib/readme/rst-inline.h"

// The width of a bullet with the blank behind it; 0: the text does not begin with this sign.
static size_t bullet_width(struct str text, char bullet)
{
	if (!text.len || text.ptr[0] != bullet || (text.len > 1 && text.ptr[1] != ' '))
		return 0;
	return 2;
}

static bool is_at_margin(const struct rst *r, size_t i, size_t to, size_t margin)
{
	return i < to && !rst_is_blank(r, i) && r->line[i].indent == margin;
}

// Writes the item of which the text begins at the column; returns the next line that is not blank.
static size_t write_list_item(struct rst *r, size_t i, size_t to, size_t margin, size_t width)
{
	size_t end = rst_body_end(r, i + 1, to, margin);
	safe_html_begin(r->w, SAFE_LI);
	rst_write_item(r, i, end, margin + width);
	safe_html_end(r->w);
	return rst_skip_blank(r, end, to);
}

size_t rst_bullet_list(struct rst *r, size_t i, size_t to, size_t margin)
{
	char bullet = rst_text(r, i).ptr[0];
	if (!strchr("*+-", bullet) || !bullet_width(rst_text(r, i), bullet))
		return i;
	safe_html_begin(r->w, SAFE_UL);
	while (is_at_margin(r, i, to, margin) && bullet_width(rst_text(r, i), bullet))
		i = write_list_item(r, i, to, margin, 2);
	safe_html_end(r->w);
	return i;
}

// The width of "1. ", "(1) ", "a) " or "#. "; 0: the text begins with none. *number is 1 if it is not made of digits.
static size_t number_width(struct str text, unsigned *number)
{
	size_t i = text.len && text.ptr[0] == '(', from = i;
	*number = 0;
	while (i < text.len && ascii_is_digit(text.ptr[i]) && i - from < 6)
		*number = *number * 10 + (unsigned)(text.ptr[i++] - '0');
	if (i == from) {
		*number = 1;
		while (i < text.len && i - from < 6 && strchr("ivxlcdmIVXLCDM", text.ptr[i]))
			i++;
		i += i == from && i < text.len && (text.ptr[i] == '#' || ascii_is_alpha(text.ptr[i]));
	}
	bool is_closed = i < text.len && (text.ptr[i] == ')' || (text.ptr[i] == '.' && !from));
	if (i == from || !is_closed || (i + 1 < text.len && text.ptr[i + 1] != ' '))
		return 0;
	return i + 2;
}

// The line behind the first one shows whether "1. text" begins a list or is a sentence.
static bool begins_numbers(const struct rst *r, size_t i, size_t to, size_t margin, unsigned *number)
{
	unsigned ignored;
	if (!number_width(rst_text(r, i), number))
		return false;
	return i + 1 >= to || rst_is_blank(r, i + 1) || r->line[i + 1].indent > margin ||
	       number_width(rst_text(r, i + 1), &ignored);
}

size_t rst_numbered_list(struct rst *r, size_t i, size_t to, size_t margin)
{
	unsigned number, ignored;
	if (!begins_numbers(r, i, to, margin, &number))
		return i;
	safe_html_begin_list(r->w, number);
	while (is_at_margin(r, i, to, margin) && begins_numbers(r, i, to, margin, &ignored))
		i = write_list_item(r, i, to, margin, number_width(rst_text(r, i), &ignored));
	safe_html_end(r->w);
	return i;
}

// The offset behind ":name:"; 0: the text is no field. A colon in front of a quote is a role's.
static size_t field_width(struct str text)
{
	if (text.len < 3 || text.ptr[0] != ':' || text.ptr[1] == ':' || text.ptr[1] == ' ')
		return 0;
	long end = rst_name_end(text);
	for (long i = 1; i < end; i++)
		if (text.ptr[i] == ':' && text.ptr[i + 1] == '`')
			return 0;
	return end > 1 && text.ptr[end - 1] != ' ' ? (size_t)end + 1 : 0;
}

static size_t write_definition(struct rst *r, size_t i, size_t to, size_t margin, size_t column)
{
	size_t end = rst_body_end(r, i + 1, to, margin);
	safe_html_begin(r->w, SAFE_DD);
	rst_write_item(r, i, end, column);
	safe_html_end(r->w);
	return rst_skip_blank(r, end, to);
}

size_t rst_field_list(struct rst *r, size_t i, size_t to, size_t margin)
{
	if (!field_width(rst_text(r, i)))
		return i;
	safe_html_begin(r->w, SAFE_DL);
	for (size_t width; is_at_margin(r, i, to, margin) && (width = field_width(rst_text(r, i)));) {
		safe_html_begin(r->w, SAFE_DT);
		rst_inline_write(r, str_slice(rst_text(r, i), 1, width - 1));
		safe_html_end(r->w);
		i = write_definition(r, i, to, margin, margin + width);
	}
	safe_html_end(r->w);
	return i;
}

// The length of "-v", "--name=VALUE" or "-a, --all" in front of two blanks or the end of the line; 0: none.
static size_t option_width(struct str text)
{
	size_t len = 0;
	if (text.len < 2 || text.ptr[0] != '-' || (!ascii_is_alnum(text.ptr[1]) && text.ptr[1] != '-'))
		return 0;
	if (text.ptr[1] == '-' && (text.len < 3 || !ascii_is_alnum(text.ptr[2])))
		return 0;
	while (len < text.len && !(text.ptr[len] == ' ' && len + 1 < text.len && text.ptr[len + 1] == ' '))
		len++;
	return len;
}

// At the end of a line an option has its text below it, which begins behind the margin.
static bool begins_option(const struct rst *r, size_t i, size_t to, size_t margin)
{
	struct str text = rst_text(r, i);
	size_t width = option_width(text);
	bool is_whole = width == text.len;
	return width && (!is_whole || (i + 1 < to && !rst_is_blank(r, i + 1) && r->line[i + 1].indent > margin &&
					      !memchr(text.ptr, ' ', text.len)));
}

size_t rst_option_list(struct rst *r, size_t i, size_t to, size_t margin)
{
	if (!begins_option(r, i, to, margin))
		return i;
	safe_html_begin(r->w, SAFE_DL);
	while (is_at_margin(r, i, to, margin) && begins_option(r, i, to, margin)) {
		size_t width = option_width(rst_text(r, i));
		safe_html_begin(r->w, SAFE_DT);
		safe_html_begin(r->w, SAFE_CODE);
		safe_html_text(r->w, str_slice(rst_text(r, i), 0, width));
		safe_html_end(r->w);
		safe_html_end(r->w);
		i = write_definition(r, i, to, margin, margin + width);
	}
	safe_html_end(r->w);
	return i;
}

static bool begins_definition(const struct rst *r, size_t i, size_t to, size_t margin)
{
	return is_at_margin(r, i, to, margin) && i + 1 < to && !rst_is_blank(r, i + 1) &&
	       r->line[i + 1].indent > margin;
}

size_t rst_definition_list(struct rst *r, size_t i, size_t to, size_t margin)
{
	if (!begins_definition(r, i, to, margin) || str_ends(rst_text(r, i), STR("::")))
		return i;
	safe_html_begin(r->w, SAFE_DL);
	while (begins_definition(r, i, to, margin) && !str_starts(rst_text(r, i), STR(".. "))) {
		safe_html_begin(r->w, SAFE_DT);
		rst_inline_write(r, rst_text(r, i));
		safe_html_end(r->w);
		i = write_definition(r, i, to, margin, r->line[i].text.len);
	}
	safe_html_end(r->w);
	return i;
}
