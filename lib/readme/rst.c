// SPDX-License-Identifier: Apache-2.0
#include "lib/readme/rst.h"

#include <stdlib.h>

#include "lib/readme/rst-inline.h"
#include "lib/readme/rst-tables.h"

// --- lists ---
//
// Lists of reStructuredText: bullets, numbers, fields (":name: text"), options ("-v  text"), definitions. Each function
// writes the list that begins in line i and returns the first line behind it, or i if none begins there.

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

static size_t rst_bullet_list(struct rst *r, size_t i, size_t to, size_t margin)
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

static size_t rst_numbered_list(struct rst *r, size_t i, size_t to, size_t margin)
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

static size_t rst_field_list(struct rst *r, size_t i, size_t to, size_t margin)
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

static size_t rst_option_list(struct rst *r, size_t i, size_t to, size_t margin)
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

// A line that the next one, which is indented, defines.
static size_t rst_definition_list(struct rst *r, size_t i, size_t to, size_t margin)
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

// --- directives ---
//
// Blocks of reStructuredText that begin with two dots: images, code, notes and other directives, footnotes, comments,
// targets. A directive is shown by a table; of an unknown one its content is shown. None reads a file or passes HTML.

// A directive: its argument is in line `at` from the column on, and its lines end before `end`. Options are lines
// behind the argument; the content follows them.
struct rst_directive {
	struct str name;
	size_t at, end;
	size_t column;
	size_t options;
	size_t content;
};

typedef void directive_fn(struct rst *r, const struct rst_directive *d, const char *title);

static void find_parts(const struct rst *r, struct rst_directive *d)
{
	d->options = d->at + 1;
	while (d->options < d->end && !rst_is_blank(r, d->options) && rst_text(r, d->options).ptr[0] != ':')
		d->options++; // the argument goes on
	d->content = rst_options_end(r, d->options, d->end);
}

static void write_content(struct rst *r, size_t from, size_t end)
{
	from = rst_skip_blank(r, from, end);
	if (from < end)
		r->blocks(r, from, end, rst_least_indent(r, from, end));
}

// The argument and what follows it are one text, as of a note.
static void show_note(struct rst *r, const struct rst_directive *d, const char *title)
{
	safe_html_begin(r->w, SAFE_BLOCKQUOTE);
	if (title) {
		safe_html_begin(r->w, SAFE_P);
		safe_html_begin(r->w, SAFE_STRONG);
		safe_html_text(r->w, str_from(title));
		safe_html_end(r->w);
		safe_html_end(r->w);
	}
	rst_write_item(r, d->at, d->end, d->column);
	safe_html_end(r->w);
}

static void write_argument(struct rst *r, const struct rst_directive *d, enum safe_element element)
{
	CLEANUP(buf_release) struct buf text = buf_up_to(LIMIT_README_HTML);
	buf_str(&text, str_trim(rst_text_from(r, d->at, d->column)));
	for (size_t i = d->at + 1; i < d->options; i++) {
		buf_putc(&text, '\n');
		buf_str(&text, rst_text(r, i));
	}
	if (!text.len)
		return;
	safe_html_begin(r->w, SAFE_P);
	if (element != SAFE_P)
		safe_html_begin(r->w, element);
	rst_inline_write(r, buf_view(&text));
	safe_html_close_to(r->w, r->w->depth - (element != SAFE_P ? 2 : 1));
}

// The argument is a title in front of the content.
static void show_titled(struct rst *r, const struct rst_directive *d, const char *title)
{
	(void)title;
	safe_html_begin(r->w, SAFE_BLOCKQUOTE);
	write_argument(r, d, SAFE_STRONG);
	write_content(r, d->content, d->end);
	safe_html_end(r->w);
}

static void show_version(struct rst *r, const struct rst_directive *d, const char *title)
{
	safe_html_begin(r->w, SAFE_P);
	safe_html_begin(r->w, SAFE_EM);
	safe_html_text(r->w, str_from(title));
	safe_html_text(r->w, STR(" "));
	safe_html_end(r->w);
	rst_inline_write(r, str_trim(rst_text_from(r, d->at, d->column)));
	safe_html_end(r->w);
	write_content(r, d->at + 1, d->end);
}

static void show_rubric(struct rst *r, const struct rst_directive *d, const char *title)
{
	(void)title;
	write_argument(r, d, SAFE_STRONG);
}

static void show_content(struct rst *r, const struct rst_directive *d, const char *title)
{
	(void)title;
	write_content(r, d->content, d->end);
}

static void show_unknown(struct rst *r, const struct rst_directive *d, const char *title)
{
	(void)title;
	write_argument(r, d, SAFE_P);
	write_content(r, d->content, d->end);
}

static void show_code(struct rst *r, const struct rst_directive *d, const char *title)
{
	(void)title;
	size_t from = rst_skip_blank(r, d->content, d->end);
	if (from < d->end)
		rst_write_literal(r, from, d->end);
}

static void write_one_image(struct rst *r, const struct rst_directive *d)
{
	CLEANUP(buf_release) struct buf url = buf_up_to(LIMIT_README_HTML);
	buf_str(&url, str_trim(rst_text_from(r, d->at, d->column)));
	for (size_t i = d->at + 1; i < d->options; i++)
		buf_str(&url, rst_text(r, i));
	rst_inline_write_image(r, buf_view(&url), rst_option(r, d->options, d->end, STR("alt")),
		rst_option(r, d->options, d->end, STR("target")));
}

static void show_figure(struct rst *r, const struct rst_directive *d, const char *title)
{
	(void)title;
	safe_html_begin(r->w, SAFE_P);
	write_one_image(r, d);
	safe_html_end(r->w);
	write_content(r, d->content, d->end);
}

static void show_table(struct rst *r, const struct rst_directive *d, const char *title)
{
	(void)title;
	write_argument(r, d, SAFE_STRONG);
	write_content(r, d->content, d->end);
}

// A table of values with commas is shown as it is written, and one in another file not at all.
static void show_values(struct rst *r, const struct rst_directive *d, const char *title)
{
	write_argument(r, d, SAFE_STRONG);
	show_code(r, d, title);
}

static void show_nothing(struct rst *r, const struct rst_directive *d, const char *title)
{
	(void)r, (void)d, (void)title;
}

// Sorted by name. Others are unknown.
static const struct directive_row {
	const char *name;
	directive_fn *show;
	const char *title;
} directives[] = {
	{"admonition", show_titled, NULL},
	{"attention", show_note, "Attention"},
	{"automodule", show_nothing, NULL},
	{"caution", show_note, "Caution"},
	{"class", show_content, NULL},
	{"code", show_code, NULL},
	{"code-block", show_code, NULL},
	{"compound", show_content, NULL},
	{"container", show_content, NULL},
	{"contents", show_nothing, NULL},
	{"csv-table", show_values, NULL},
	{"currentmodule", show_nothing, NULL},
	{"danger", show_note, "Danger"},
	{"default-role", show_nothing, NULL},
	{"deprecated", show_version, "Deprecated since"},
	{"error", show_note, "Error"},
	{"figure", show_figure, NULL},
	{"highlight", show_nothing, NULL},
	{"hint", show_note, "Hint"},
	{"image", show_figure, NULL},
	{"important", show_note, "Important"},
	{"include", show_nothing, NULL},
	{"index", show_nothing, NULL},
	{"literalinclude", show_nothing, NULL},
	{"math", show_code, NULL},
	{"meta", show_nothing, NULL},
	{"note", show_note, "Note"},
	{"parsed-literal", show_code, NULL},
	{"prompt", show_code, NULL},
	{"raw", show_nothing, NULL},
	{"role", show_nothing, NULL},
	{"rubric", show_rubric, NULL},
	{"section-numbering", show_nothing, NULL},
	{"sectnum", show_nothing, NULL},
	{"seealso", show_note, "See also"},
	{"sidebar", show_titled, NULL},
	{"sourcecode", show_code, NULL},
	{"table", show_table, NULL},
	{"tabularcolumns", show_nothing, NULL},
	{"target-notes", show_nothing, NULL},
	{"testcode", show_code, NULL},
	{"testoutput", show_code, NULL},
	{"tip", show_note, "Tip"},
	{"title", show_nothing, NULL},
	{"toctree", show_nothing, NULL},
	{"todo", show_note, "To do"},
	{"topic", show_titled, NULL},
	{"versionadded", show_version, "New in"},
	{"versionchanged", show_version, "Changed in"},
	{"warning", show_note, "Warning"},
};

static int compare_directive(const void *key, const void *row)
{
	return str_cmp(*(const struct str *)key, str_from(((const struct directive_row *)row)->name));
}

// Images in a row, as people put badges, are one paragraph.
static size_t write_images(struct rst *r, struct rst_directive d, size_t to, size_t margin)
{
	size_t next = d.end;
	safe_html_begin(r->w, SAFE_P);
	for (;;) {
		find_parts(r, &d);
		write_one_image(r, &d);
		d.at = rst_skip_blank(r, d.end, to);
		if (d.at == to || r->line[d.at].indent != margin || !str_starts(rst_text(r, d.at), STR(".. image:: ")))
			break;
		safe_html_text(r->w, STR("\n"));
		d.end = next = rst_body_end(r, d.at + 1, to, margin);
		d.column = margin + strlen(".. image:: ");
	}
	safe_html_end(r->w);
	return next;
}

static size_t write_directive(struct rst *r, struct rst_directive d, size_t to, size_t margin)
{
	if (str_eq(d.name, STR("image")))
		return write_images(r, d, to, margin);
	const struct directive_row *row =
		bsearch(&d.name, directives, ARRAY_SIZE(directives), sizeof(directives[0]), compare_directive);
	find_parts(r, &d);
	if (row)
		row->show(r, &d, row->title);
	else
		show_unknown(r, &d, NULL);
	return d.end;
}

// The length of the name in front of "::"; 0: this is no directive.
static size_t directive_name(struct str text)
{
	size_t len = 0;
	while (len < text.len &&
		(ascii_is_alnum(text.ptr[len]) || strchr("-_+.", text.ptr[len]) ||
			(text.ptr[len] == ':' && len + 1 < text.len && ascii_is_alnum(text.ptr[len + 1]))))
		len++;
	size_t end = len + (len < text.len && text.ptr[len] == ' '); // old texts have a blank there
	bool is_name = len && end + 1 < text.len && text.ptr[end] == ':' && text.ptr[end + 1] == ':';
	return is_name && (end + 2 == text.len || text.ptr[end + 2] == ' ') ? len : 0;
}

// The length of "[label]"; 0: there is none.
static size_t footnote_label(struct str text)
{
	long end = text.len > 2 && text.ptr[0] == '[' ? str_find(text, ']') : -1;
	return end > 1 && (size_t)end + 1 < text.len && text.ptr[end + 1] == ' ' ? (size_t)end + 1 : 0;
}

// Writes the block that begins in line i, and returns the first line behind it, or i if none begins there.
static size_t rst_explicit_block(struct rst *r, size_t i, size_t to, size_t margin)
{
	struct str text = rst_text(r, i);
	if (str_starts(text, STR("__ ")))
		return i + 1;
	if (!str_eq(text, STR("..")) && !str_starts(text, STR(".. ")))
		return i;
	size_t end = rst_body_end(r, i + 1, to, margin), column = margin + 2;
	while (column < r->line[i].text.len && r->line[i].text.ptr[column] == ' ')
		column++;
	text = rst_text_from(r, i, column);
	size_t name = directive_name(text), label = footnote_label(text);
	if (str_eq(text, STR("")) && i + 1 < to && rst_is_blank(r, i + 1))
		return i + 1; // two dots alone comment nothing out
	if (label) {
		// A footnote or citation: "[label] text".
		safe_html_begin(r->w, SAFE_DL);
		safe_html_begin(r->w, SAFE_DT);
		safe_html_text(r->w, str_slice(r->line[i].text, column, column + label));
		safe_html_end(r->w);
		safe_html_begin(r->w, SAFE_DD);
		rst_write_item(r, i, end, column + label);
		safe_html_end(r->w);
		safe_html_end(r->w);
	}
	if (!name || text.ptr[0] == '_')
		return end;
	const struct rst_directive d = {.name = str_slice(text, 0, name),
		.at = i,
		.end = end,
		.column = column + name + (text.ptr[name] == ' ') + 2};
	return write_directive(r, d, to, margin);
}

enum { TAB = 8, TITLE_SIGNS = 3, RULE_SIGNS = 4 };

// --- sections ---

// The level of a style of titles, which is the order in which the styles occur.
static unsigned title_level(struct rst *r, char below, char above)
{
	unsigned level = 0;
	while (level < r->styles && (r->style[level][0] != below || r->style[level][1] != above))
		level++;
	if (level == r->styles && r->styles < LIMIT_README_DEPTH) {
		r->style[level][0] = below;
		r->style[level][1] = above;
		r->styles++;
	}
	return level + 1;
}

static void write_title(struct rst *r, struct str text, char below, char above)
{
	safe_html_begin_heading(r->w, title_level(r, below, above));
	rst_inline_write(r, text);
	safe_html_end_heading(r->w);
}

// A title begins at the left edge, outside of all other blocks.
static size_t write_section(struct rst *r, size_t i, size_t to, size_t margin)
{
	struct str text = rst_text(r, i);
	if (r->depth > 1 || margin)
		return i;
	bool is_line = rst_is_adornment(text, TITLE_SIGNS);
	bool has_next = i + 1 < to && !rst_is_blank(r, i + 1);
	if (is_line && i + 2 < to && has_next && rst_is_adornment(rst_text(r, i + 2), TITLE_SIGNS) &&
		rst_text(r, i + 2).ptr[0] == text.ptr[0]) {
		write_title(r, rst_text(r, i + 1), text.ptr[0], text.ptr[0]);
		return i + 3;
	}
	if (is_line || !has_next || r->line[i + 1].indent || !rst_is_adornment(rst_text(r, i + 1), TITLE_SIGNS))
		return i;
	write_title(r, text, rst_text(r, i + 1).ptr[0], '\0');
	return i + 2;
}

// --- quotes, doctests and lines ---

static size_t write_quote(struct rst *r, size_t i, size_t to, size_t margin)
{
	size_t end = rst_body_end(r, i, to, margin);
	if (end == i)
		return i;
	safe_html_begin(r->w, SAFE_BLOCKQUOTE);
	r->blocks(r, i, end, rst_least_indent(r, i, end));
	safe_html_end(r->w);
	return end;
}

static size_t run_end(const struct rst *r, size_t i, size_t to)
{
	while (i < to && !rst_is_blank(r, i))
		i++;
	return i;
}

static size_t write_doctest(struct rst *r, size_t i, size_t to)
{
	if (!str_starts(rst_text(r, i), STR(">>> ")))
		return i;
	size_t end = run_end(r, i, to);
	rst_write_literal(r, i, end);
	return end;
}

static bool is_line_block(const struct rst *r, size_t i)
{
	struct str text = rst_text(r, i);
	return text.len && text.ptr[0] == '|' && (text.len == 1 || text.ptr[1] == ' ');
}

static size_t write_lines(struct rst *r, size_t i, size_t to, size_t margin)
{
	if (!is_line_block(r, i))
		return i;
	safe_html_begin(r->w, SAFE_P);
	for (size_t first = i; i < to && !rst_is_blank(r, i) && r->line[i].indent >= margin; i++) {
		struct str text = rst_text(r, i);
		bool begins_line = is_line_block(r, i);
		if (i > first && begins_line)
			safe_html_break(r->w);
		else if (i > first)
			safe_html_text(r->w, STR("\n"));
		rst_inline_write(r, str_slice(text, begins_line ? (text.len > 1 ? 2 : 1) : 0, text.len));
	}
	safe_html_end(r->w);
	return i;
}

// --- paragraphs ---

// Behind "::": the lines that are indented, or those that begin with the same sign of punctuation.
static size_t write_literal_block(struct rst *r, size_t i, size_t to, size_t margin)
{
	size_t from = rst_skip_blank(r, i, to), end = rst_body_end(r, from, to, margin);
	if (end == from && from < to) {
		char sign = rst_text(r, from).ptr[0];
		bool is_quoted = sign > ' ' && sign <= '~' && !ascii_is_alnum(sign);
		while (is_quoted && end < to && !rst_is_blank(r, end) && rst_text(r, end).ptr[0] == sign)
			end++;
	}
	if (end > from)
		rst_write_literal(r, from, end);
	return end > from ? end : i;
}

static size_t paragraph_end(const struct rst *r, size_t i, size_t to, size_t margin)
{
	for (i++; i < to && !rst_is_blank(r, i) && r->line[i].indent <= margin; i++)
		if (str_eq(rst_text(r, i), STR("..")) || str_starts(rst_text(r, i), STR(".. ")))
			break;
	return i;
}

static size_t write_paragraph(struct rst *r, size_t i, size_t to, size_t margin, bool is_only)
{
	size_t end = paragraph_end(r, i, to, margin);
	CLEANUP(buf_release) struct buf text = buf_up_to(LIMIT_README_HTML);
	for (size_t at = i; at < end; at++) {
		if (at > i)
			buf_putc(&text, '\n');
		buf_str(&text, rst_text(r, at));
	}
	struct str words = buf_view(&text);
	bool is_literal = str_ends(words, STR("::"));
	if (is_literal) { // one of the colons is shown, if no blank is in front of them
		bool is_apart = words.len == 2 || words.ptr[words.len - 3] == ' ' || words.ptr[words.len - 3] == '\n';
		words = str_trim(str_slice(words, 0, words.len - (is_apart ? 2 : 1)));
	}
	if (words.len && !is_only)
		safe_html_begin(r->w, SAFE_P);
	rst_inline_write(r, words);
	if (words.len && !is_only)
		safe_html_end(r->w);
	return is_literal ? write_literal_block(r, end, to, margin) : end;
}

// --- blocks ---

// Tries each kind of block. Each returns the line behind it, or i.
static size_t write_block(struct rst *r, size_t i, size_t to, size_t margin)
{
	static size_t (*const at_margin[])(struct rst * r, size_t i, size_t to, size_t margin) = {
		rst_explicit_block,
		rst_bullet_list,
		rst_numbered_list,
		rst_field_list,
		rst_option_list,
		write_lines,
		write_section,
		rst_definition_list,
	};
	size_t end = r->line[i].indent > margin ? write_quote(r, i, to, margin) : i;
	end = end == i ? write_doctest(r, i, to) : end;
	end = end == i ? rst_grid_table(r, i, to) : end;
	end = end == i ? rst_simple_table(r, i, to) : end;
	for (size_t k = 0; end == i && k < ARRAY_SIZE(at_margin); k++)
		end = at_margin[k](r, i, to, margin);
	if (end != i)
		return end;
	if (!rst_is_adornment(rst_text(r, i), RULE_SIGNS) || (i + 1 < to && !rst_is_blank(r, i + 1)))
		return i;
	safe_html_rule(r->w);
	return i + 1;
}

static void write_blocks(struct rst *r, size_t from, size_t to, size_t margin)
{
	if (r->depth == LIMIT_README_DEPTH / 2)
		r->w->too_deep = true;
	if (safe_html_failed(r->w))
		return;
	r->depth++;
	for (size_t i = rst_skip_blank(r, from, to); i < to && !safe_html_failed(r->w); i = rst_skip_blank(r, i, to)) {
		size_t end = write_block(r, i, to, margin);
		bool is_item = safe_html_top(r->w) == SAFE_LI || safe_html_top(r->w) == SAFE_DD;
		bool is_only = is_item && rst_skip_blank(r, paragraph_end(r, i, to, margin), to) == to;
		i = end > i ? end : write_paragraph(r, i, to, margin, is_only && i == from);
	}
	r->depth--;
}

bool rst_render(struct str text, struct safe_html *w)
{
	struct rst_targets targets;
	struct rst r = {.w = w, .blocks = write_blocks, .targets = &targets};
	CLEANUP(buf_release) struct buf expanded = buf_up_to((size_t)LIMIT_README * 3 * TAB);
	// Copies the text with blanks instead of tabs.
	size_t line = 0;
	for (size_t i = 0; i < text.len; i++) {
		char c = text.ptr[i];
		if (c == '\t')
			buf_add(&expanded, "        ", TAB - (expanded.len - line) % TAB);
		else
			buf_putc(&expanded, c == '\f' || c == '\v' ? ' ' : c);
		line = c == '\n' ? expanded.len : line;
	}
	rst_lines_split(&r, buf_view(&expanded));
	rst_targets_collect(&targets, &r);
	write_blocks(&r, 0, r.count, 0);
	rst_targets_release(&targets);
	mem_free(&r.line);
	return !w->too_deep;
}
