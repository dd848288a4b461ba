// SPDX-License-Identifier: Apache-2.0
#include "lib/readme/rst.h"

#include "lib/readme/rst-directives.h"
#include "lib/readme/rst-inline.h"
#include "lib/readme/rst-lists.h"
#include "lib/readme/rst-tables.h"
#include "lib/readme/rst-targets.h"

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

static size_t write_transition(struct rst *r, size_t i, size_t to)
{
	if (!rst_is_adornment(rst_text(r, i), RULE_SIGNS) || (i + 1 < to && !rst_is_blank(r, i + 1)))
		return i;
	safe_html_rule(r->w);
	return i + 1;
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
	CLEANUP(buf_release) struct buf text;
	size_t end = paragraph_end(r, i, to, margin);
	buf_init(&text, LIMIT_README_HTML);
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
	return end == i ? write_transition(r, i, to) : end;
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

// Copies the text with blanks instead of tabs.
static void expand_tabs(struct str text, struct buf *out)
{
	size_t line = 0;
	for (size_t i = 0; i < text.len; i++) {
		char c = text.ptr[i];
		if (c == '\t')
			buf_add(out, "        ", TAB - (out->len - line) % TAB);
		else
			buf_putc(out, c == '\f' || c == '\v' ? ' ' : c);
		line = c == '\n' ? out->len : line;
	}
}

bool rst_render(struct str text, struct safe_html *w)
{
	CLEANUP(buf_release) struct buf expanded;
	struct rst_targets targets;
	struct rst r = {.w = w, .blocks = write_blocks, .targets = &targets};
	buf_init(&expanded, (size_t)LIMIT_README * 3 * TAB);
	expand_tabs(text, &expanded);
	rst_lines_split(&r, buf_view(&expanded));
	rst_targets_collect(&targets, &r);
	write_blocks(&r, 0, r.count, 0);
	rst_targets_release(&targets);
	mem_free(&r.line);
	return !w->too_deep;
}
