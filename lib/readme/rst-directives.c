// SPDX-License-Identifier: Apache-2.0
#include "lib/readme/rst-directives.h"

#include <stdlib.h>

#include "lib/readme/rst-inline.h"

// A directive: its argument is in line `at` from the column on, and its lines end before `end`. Options are lines behind
// the argument; the content follows them.
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
	CLEANUP(buf_release) struct buf text;
	buf_init(&text, LIMIT_README_HTML);
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
	CLEANUP(buf_release) struct buf url;
	buf_init(&url, LIMIT_README_HTML);
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

// A footnote or citation: "[label] text".
static void write_footnote(struct rst *r, size_t i, size_t end, size_t column, size_t label)
{
	safe_html_begin(r->w, SAFE_DL);
	safe_html_begin(r->w, SAFE_DT);
	safe_html_text(r->w, str_slice(r->line[i].text, column, column + label));
	safe_html_end(r->w);
	safe_html_begin(r->w, SAFE_DD);
	rst_write_item(r, i, end, column + label);
	safe_html_end(r->w);
	safe_html_end(r->w);
}

// The length of "[label]"; 0: there is none.
static size_t footnote_label(struct str text)
{
	long end = text.len > 2 && text.ptr[0] == '[' ? str_find(text, ']') : -1;
	return end > 1 && (size_t)end + 1 < text.len && text.ptr[end + 1] == ' ' ? (size_t)end + 1 : 0;
}

size_t rst_explicit_block(struct rst *r, size_t i, size_t to, size_t margin)
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
	if (label)
		write_footnote(r, i, end, column, label);
	if (!name || text.ptr[0] == '_')
		return end;
	const struct rst_directive d = {.name = str_slice(text, 0, name),
		.at = i,
		.end = end,
		.column = column + name + (text.ptr[name] == ' ') + 2};
	return write_directive(r, d, to, margin);
}
