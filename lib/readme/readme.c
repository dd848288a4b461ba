// SPDX-License-Identifier: Apache-2.0
#include "lib/readme/readme.h"

#include <cmark-gfm-core-extensions.h>
#include <cmark-gfm.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <strings.h>

#include "lib/base/limits.h"
#include "lib/base/str.h"
#include "lib/format/markup.h"
#include "lib/readme/rst.h"

// Renders Markdown (CommonMark with GitHub's tables and struck text) with cmark-gfm. Of raw HTML its text, its links
// and its images remain. Any thread; one text is parsed at a time, since cmark-gfm has tables that a parse changes.

// --- HTML within Markdown ---
//
// Takes out of a piece of foreign HTML what a text may show: words, links, images, line breaks, paragraphs. Elements
// that are not shown, such as scripts and styles, are left out with what is in them. Any thread.

enum fragment_kind {
	FRAGMENT_HIDDEN = 1,
	FRAGMENT_BLOCK,
	FRAGMENT_LINK,
	FRAGMENT_IMAGE,
	FRAGMENT_BREAK,
	FRAGMENT_RULE
};

// Elements by name; of others only what is in them counts.
static const struct fragment_element {
	const char *name;
	enum fragment_kind kind;
} elements[] = {
	{"a", FRAGMENT_LINK},
	{"br", FRAGMENT_BREAK},
	{"dd", FRAGMENT_BLOCK},
	{"details", FRAGMENT_BLOCK},
	{"div", FRAGMENT_BLOCK},
	{"dt", FRAGMENT_BLOCK},
	{"h1", FRAGMENT_BLOCK},
	{"h2", FRAGMENT_BLOCK},
	{"h3", FRAGMENT_BLOCK},
	{"h4", FRAGMENT_BLOCK},
	{"h5", FRAGMENT_BLOCK},
	{"h6", FRAGMENT_BLOCK},
	{"hr", FRAGMENT_RULE},
	{"iframe", FRAGMENT_HIDDEN},
	{"img", FRAGMENT_IMAGE},
	{"li", FRAGMENT_BLOCK},
	{"math", FRAGMENT_HIDDEN},
	{"noscript", FRAGMENT_HIDDEN},
	{"object", FRAGMENT_HIDDEN},
	{"p", FRAGMENT_BLOCK},
	{"pre", FRAGMENT_BLOCK},
	{"script", FRAGMENT_HIDDEN},
	{"style", FRAGMENT_HIDDEN},
	{"summary", FRAGMENT_BLOCK},
	{"svg", FRAGMENT_HIDDEN},
	{"template", FRAGMENT_HIDDEN},
	{"textarea", FRAGMENT_HIDDEN},
	{"title", FRAGMENT_HIDDEN},
	{"tr", FRAGMENT_BLOCK},
};

struct fragment {
	struct safe_html *w;
	unsigned base;   // elements that were open before
	unsigned hidden; // elements that are not shown and are open
};

static enum fragment_kind kind_of(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(elements); i++)
		if (strcmp(elements[i].name, name) == 0)
			return elements[i].kind;
	return 0;
}

static void open_paragraph(struct fragment *f)
{
	if (f->w->depth == f->base)
		safe_html_begin(f->w, SAFE_P);
}

static void write_image(struct safe_html *w, const char *const *attributes)
{
	const char *src = markup_attribute(attributes, "src"), *alt = markup_attribute(attributes, "alt");
	safe_html_image(w, str_from(src ? src : ""), str_from(alt ? alt : ""));
}

static void on_fragment_begin(void *ctx, const char *name, const char *const *attributes)
{
	struct fragment *f = ctx;
	enum fragment_kind kind = kind_of(name);
	const char *href = kind == FRAGMENT_LINK ? markup_attribute(attributes, "href") : NULL;
	f->hidden += kind == FRAGMENT_HIDDEN;
	if (f->hidden)
		return;
	if (kind == FRAGMENT_BLOCK || kind == FRAGMENT_RULE)
		safe_html_close_to(f->w, f->base);
	if (kind == FRAGMENT_RULE)
		safe_html_rule(f->w);
	if (kind == FRAGMENT_LINK || kind == FRAGMENT_IMAGE || kind == FRAGMENT_BREAK)
		open_paragraph(f);
	if (href)
		safe_html_begin_link(f->w, str_from(href));
	if (kind == FRAGMENT_IMAGE)
		write_image(f->w, attributes);
	if (kind == FRAGMENT_BREAK)
		safe_html_break(f->w);
}

static void on_fragment_end(void *ctx, const char *name)
{
	struct fragment *f = ctx;
	enum fragment_kind kind = kind_of(name);
	if (kind == FRAGMENT_HIDDEN && f->hidden)
		f->hidden--;
	else if (kind == FRAGMENT_BLOCK && !f->hidden)
		safe_html_close_to(f->w, f->base);
	else if (kind == FRAGMENT_LINK && !f->hidden && f->w->depth > f->base && safe_html_top(f->w) == SAFE_A)
		safe_html_end(f->w);
}

static void on_fragment_text(void *ctx, struct str text)
{
	struct fragment *f = ctx;
	if (f->hidden || (f->w->depth == f->base && !str_trim(text).len))
		return;
	open_paragraph(f);
	safe_html_text(f->w, text);
}

// A whole block. What cannot be read as HTML is left out.
static void html_fragment_write(struct safe_html *w, struct str html)
{
	static const struct markup_handler handler = {on_fragment_begin, on_fragment_end, on_fragment_text, NULL};
	struct fragment f = {.w = w, .base = w->depth};
	struct err e = ERR_INIT;
	if (markup_read_html(html, &handler, &f, &e) != 0)
		safe_html_text(w, STR(""));
	safe_html_close_to(w, f.base);
}

static void on_tag_begin(void *ctx, const char *name, const char *const *attributes)
{
	struct safe_html *w = ctx;
	enum fragment_kind kind = kind_of(name);
	const char *href = kind == FRAGMENT_LINK ? markup_attribute(attributes, "href") : NULL;
	if (href)
		safe_html_begin_link(w, str_from(href));
	if (kind == FRAGMENT_IMAGE)
		write_image(w, attributes);
	if (kind == FRAGMENT_BREAK)
		safe_html_break(w);
}

static void on_tag_end(void *ctx, const char *name)
{
	(void)ctx, (void)name;
}

static void on_tag_text(void *ctx, struct str text)
{
	(void)ctx, (void)text;
}

static bool is_tag(struct str tag, struct str begin)
{
	return tag.len > begin.len && str_eq_nocase(str_slice(tag, 0, begin.len), begin) &&
	       !ascii_is_alnum(tag.ptr[begin.len]);
}

// One tag within a line: an image, a line break, or the begin or the end of a link.
static void html_fragment_write_tag(struct safe_html *w, struct str tag)
{
	static const struct markup_handler handler = {on_tag_begin, on_tag_end, on_tag_text, NULL};
	struct err e = ERR_INIT;
	if (is_tag(tag, STR("</a")) && safe_html_top(w) == SAFE_A)
		safe_html_end(w);
	if (is_tag(tag, STR("<a")) || is_tag(tag, STR("<img")) || is_tag(tag, STR("<br")))
		(void)!markup_read_html(tag, &handler, w, &e);
}

// --- bounds ---
//
// Says whether a Markdown text can be parsed in linear time and memory. cmark-gfm needs more than that for some texts
// that nobody writes; Debian's versions differ in which (CVE-2022-39209 to CVE-2023-37463). The measures here are
// counts that such a text exceeds and a text for people does not. A pure function; any thread.

struct markdown_counts {
	size_t lines;
	size_t markers; // of the line that has most
	size_t columns; // of the line that has most and may be the second of a table
	size_t scans;   // beginnings of raw HTML of which each one is searched for its end
	size_t links;   // ends of labels
	size_t inline_links;
	size_t definition; // bytes of the longest definition of a link, at least
};

// Characters of the lines that begin quotes and lists; and of the second line of a table.
static bool is_marker(char c)
{
	return c == '>' || c == '*' || c == '+' || c == '-' || c == '.' || c == ')';
}

static bool is_between(char c)
{
	return c == ' ' || c == '\t' || ascii_is_digit(c);
}

static size_t count_markers(struct str line)
{
	size_t markers = 0;
	for (size_t i = 0; i < line.len && (is_marker(line.ptr[i]) || is_between(line.ptr[i])); i++) {
		bool ends_marker = i + 1 == line.len || is_between(line.ptr[i + 1]) || line.ptr[i] == '>';
		markers += is_marker(line.ptr[i]) && ends_marker;
	}
	return markers;
}

static size_t count_columns(struct str line)
{
	size_t columns = 1;
	for (size_t i = 0; i < line.len; i++) {
		char c = line.ptr[i];
		if (c != '|' && c != ':' && c != '\v' && c != '\f' && !is_marker(c) && !is_between(c))
			return 0;
		columns += c == '|';
	}
	return columns;
}

static size_t skip_blanks(struct str s, size_t at)
{
	while (at < s.len && (s.ptr[at] == ' ' || s.ptr[at] == '\t' || s.ptr[at] == '\n'))
		at++;
	return at;
}

// The bytes of the target and the title of the definition whose "]:" ends at this offset, at most about `most`. The
// title is what makes a definition long over several lines; it ends with its quote.
static size_t definition_length(struct str s, size_t at, size_t most)
{
	size_t from = at = skip_blanks(s, at);
	bool is_pointed = at < s.len && s.ptr[at] == '<';
	while (at < s.len && at - from < most && s.ptr[at] != '\n' && (is_pointed || s.ptr[at] != ' '))
		at++;
	at = skip_blanks(s, at);
	char quote = at < s.len ? s.ptr[at] : '\0';
	if (quote != '"' && quote != '\'' && quote != '(')
		return at - from;
	quote = quote == '(' ? ')' : quote;
	for (at++; at < s.len && at - from < most && s.ptr[at] != quote; at++)
		at += s.ptr[at] == '\\';
	return at - from;
}

// Returns NULL, or what the text has too much of, as words for "it has too many …".
static const char *markdown_excess(struct str text)
{
	struct markdown_counts n = {0};
	for (size_t i = 0; i + 1 < text.len; i++) {
		char next = text.ptr[i + 1];
		bool is_comment = i + 3 < text.len && next == '!' && text.ptr[i + 2] == '-';
		n.scans += text.ptr[i] == '<' && (next == '?' || (next == '!' && !is_comment));
		n.links += text.ptr[i] == ']';
		n.inline_links += text.ptr[i] == ']' && next == '(';
	}
	n.links++;
	size_t most = LIMIT_README_EXPANDED / n.links + 1;
	for (size_t i = 0; i + 1 < text.len && n.definition < most; i++) {
		size_t len = text.ptr[i] == ']' && text.ptr[i + 1] == ':' ? definition_length(text, i + 2, most) : 0;
		n.definition = len > n.definition ? len : n.definition;
	}
	for (struct str rest = text; rest.len;) {
		struct str line = str_cut(&rest, '\n');
		size_t markers = count_markers(line), columns = count_columns(line);
		n.lines++;
		n.markers = markers > n.markers ? markers : n.markers;
		n.columns = columns > n.columns ? columns : n.columns;
	}
	const struct {
		uint64_t count, limit;
		const char *words;
	} of[] = {
		{n.markers, LIMIT_README_MARKERS, "quotes or lists within each other"},
		{n.columns, LIMIT_README_COLUMNS, "columns in a table"},
		{(n.columns < 2 ? 0 : n.columns) * n.lines, LIMIT_README_CELLS, "cells in tables"},
		{n.scans, LIMIT_README_SCANS, "pieces of raw HTML"},
		{(uint64_t)n.definition * n.links, LIMIT_README_EXPANDED, "links to long targets"},
		{n.inline_links, LIMIT_README_LINKS, "links"},
	};
	for (size_t i = 0; i < sizeof(of) / sizeof(of[0]); i++)
		if (of[i].count > of[i].limit)
			return of[i].words;
	return NULL;
}

// --- the nodes of Markdown ---

struct markdown {
	struct safe_html *w;
	struct buf text;    // of text nodes next to each other, which are one text in the source
	unsigned fragments; // pieces of raw HTML that were read
	unsigned images;    // that are open: the words in the outermost are its alternative text
	bool is_head;       // in the first row of a table
};

typedef void node_fn(struct markdown *m, cmark_node *node, enum safe_element element);

static void flush_text(struct markdown *m)
{
	bare_links_write(m->w, buf_view(&m->text));
	buf_clear(&m->text);
}

static void begin_element(struct markdown *m, cmark_node *node, enum safe_element element)
{
	(void)node;
	safe_html_begin(m->w, element);
}

// The paragraphs of a tight list are lines of its items.
static void begin_paragraph(struct markdown *m, cmark_node *node, enum safe_element element)
{
	cmark_node *item = cmark_node_parent(node), *list = item ? cmark_node_parent(item) : NULL;
	if (!list || cmark_node_get_type(list) != CMARK_NODE_LIST || !cmark_node_get_list_tight(list))
		safe_html_begin(m->w, element);
}

static void begin_heading(struct markdown *m, cmark_node *node, enum safe_element element)
{
	(void)element;
	safe_html_begin_heading(m->w, (unsigned)cmark_node_get_heading_level(node));
}

static void end_heading(struct markdown *m, cmark_node *node, enum safe_element element)
{
	(void)node, (void)element;
	safe_html_end_heading(m->w);
}

static void begin_any_list(struct markdown *m, cmark_node *node, enum safe_element element)
{
	if (cmark_node_get_list_type(node) == CMARK_ORDERED_LIST)
		safe_html_begin_list(m->w, (unsigned)cmark_node_get_list_start(node));
	else
		safe_html_begin(m->w, element);
}

static void write_code_block(struct markdown *m, cmark_node *node, enum safe_element element)
{
	(void)element;
	safe_html_begin(m->w, SAFE_PRE);
	safe_html_begin(m->w, SAFE_CODE);
	safe_html_text(m->w, str_from(cmark_node_get_literal(node)));
	safe_html_end(m->w);
	safe_html_end(m->w);
}

static void write_html_block(struct markdown *m, cmark_node *node, enum safe_element element)
{
	(void)element;
	if (m->fragments++ < LIMIT_README_FRAGMENTS)
		html_fragment_write(m->w, str_from(cmark_node_get_literal(node)));
}

static void write_tag(struct markdown *m, cmark_node *node, enum safe_element element)
{
	(void)element;
	if (m->fragments++ < LIMIT_README_FRAGMENTS)
		html_fragment_write_tag(m->w, str_from(cmark_node_get_literal(node)));
}

static void write_rule(struct markdown *m, cmark_node *node, enum safe_element element)
{
	(void)node, (void)element;
	safe_html_rule(m->w);
}

static void write_break(struct markdown *m, cmark_node *node, enum safe_element element)
{
	(void)node, (void)element;
	safe_html_break(m->w);
}

static void write_code(struct markdown *m, cmark_node *node, enum safe_element element)
{
	safe_html_begin(m->w, element);
	safe_html_text(m->w, str_from(cmark_node_get_literal(node)));
	safe_html_end(m->w);
}

static void begin_link(struct markdown *m, cmark_node *node, enum safe_element element)
{
	(void)element;
	safe_html_begin_link(m->w, str_from(cmark_node_get_url(node)));
}

// The first row of a table is its head.
static void begin_row(struct markdown *m, cmark_node *node, enum safe_element element)
{
	m->is_head = !cmark_node_previous(node);
	if (m->is_head)
		safe_html_begin(m->w, SAFE_THEAD);
	safe_html_begin(m->w, element);
}

static void begin_cell(struct markdown *m, cmark_node *node, enum safe_element element)
{
	(void)node;
	safe_html_begin(m->w, m->is_head ? SAFE_TH : element);
}

// By the names of the library, sorted, since the types of its extensions are numbers that it gives out when it starts.
// Nodes without a begin, and nodes of other types, are left out; what is in them is shown.
static const struct node_row {
	const char *type;
	node_fn *begin;
	node_fn *end; // before what begin opened is closed
	enum safe_element element;
} rows[] = {
	{"block_quote", begin_element, NULL, SAFE_BLOCKQUOTE},
	{"code", write_code, NULL, SAFE_CODE},
	{"code_block", write_code_block, NULL, SAFE_PRE},
	{"emph", begin_element, NULL, SAFE_EM},
	{"heading", begin_heading, end_heading, SAFE_H1},
	{"html_block", write_html_block, NULL, SAFE_P},
	{"html_inline", write_tag, NULL, SAFE_P},
	{"item", begin_element, NULL, SAFE_LI},
	{"linebreak", write_break, NULL, SAFE_P},
	{"link", begin_link, NULL, SAFE_A},
	{"list", begin_any_list, NULL, SAFE_UL},
	{"paragraph", begin_paragraph, NULL, SAFE_P},
	{"strikethrough", begin_element, NULL, SAFE_DEL},
	{"strong", begin_element, NULL, SAFE_STRONG},
	{"table", begin_element, NULL, SAFE_TABLE},
	{"table_cell", begin_cell, NULL, SAFE_TD},
	{"table_header", begin_row, NULL, SAFE_TR},
	{"table_row", begin_row, NULL, SAFE_TR},
	{"thematic_break", write_rule, NULL, SAFE_P},
};

static int compare_type(const void *key, const void *row)
{
	return strcmp(key, ((const struct node_row *)row)->type);
}

static void visit_image(struct markdown *m, cmark_node *node, bool is_begin)
{
	if (is_begin && m->images++ == 0)
		flush_text(m);
	if (is_begin || --m->images)
		return;
	safe_html_image(m->w, str_from(cmark_node_get_url(node)), buf_view(&m->text));
	buf_clear(&m->text);
}

static void visit_element(struct markdown *m, cmark_node *node, bool is_begin)
{
	const struct node_row *row =
		bsearch(cmark_node_get_type_string(node), rows, ARRAY_SIZE(rows), sizeof(rows[0]), compare_type);
	flush_text(m);
	if (is_begin) // what the end closes is everything that was opened since
		cmark_node_set_user_data(node, (void *)(uintptr_t)m->w->depth);
	if (is_begin && row)
		row->begin(m, node, row->element);
	if (!is_begin && row && row->end)
		row->end(m, node, row->element);
	if (!is_begin)
		safe_html_close_to(m->w, (unsigned)(uintptr_t)cmark_node_get_user_data(node));
}

// The text is UTF-8 of at most LIMIT_README bytes. False if it has too much of something (markdown.c); nothing is
// written then. What is written is to be discarded if safe_html_failed() says so.
static bool markdown_render(struct str text, struct safe_html *w)
{
	if (markdown_excess(text))
		return false;
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static const char *const extensions[] = {"table", "strikethrough"};
	pthread_mutex_lock(&lock);
	cmark_gfm_core_extensions_ensure_registered();
	cmark_parser *parser = cmark_parser_new(CMARK_OPT_DEFAULT);
	for (size_t i = 0; i < ARRAY_SIZE(extensions); i++)
		cmark_parser_attach_syntax_extension(parser, cmark_find_syntax_extension(extensions[i]));
	cmark_parser_feed(parser, text.ptr, text.len);
	cmark_node *root = cmark_parser_finish(parser);
	cmark_parser_free(parser);
	pthread_mutex_unlock(&lock);
	struct markdown m = {.w = w};
	cmark_iter *iter = cmark_iter_new(root);
	buf_init(&m.text, LIMIT_README_HTML);
	for (cmark_event_type event; (event = cmark_iter_next(iter)) != CMARK_EVENT_DONE && !safe_html_failed(w);) {
		cmark_node *node = cmark_iter_get_node(iter);
		bool is_begin = event == CMARK_EVENT_ENTER;
		cmark_node_type type = cmark_node_get_type(node);
		if (type == CMARK_NODE_IMAGE)
			visit_image(&m, node, is_begin);
		else if (type == CMARK_NODE_TEXT || (type == CMARK_NODE_CODE && m.images))
			buf_puts(&m.text, cmark_node_get_literal(node));
		else if (type == CMARK_NODE_SOFTBREAK)
			buf_putc(&m.text, '\n');
		else if (!m.images)
			visit_element(&m, node, is_begin);
	}
	cmark_iter_free(iter);
	buf_release(&m.text);
	cmark_node_free(root);
	return true;
}

// --- a text of any kind ---

// The part of a content type in front of its parameters.
static struct str media_type(struct str content_type)
{
	return str_trim(str_cut(&content_type, ';'));
}

// Signs of Markdown that reStructuredText does not have.
static bool looks_like_markdown(struct str text)
{
	for (struct str rest = text; rest.len;) {
		struct str line = str_cut(&rest, '\n');
		if (str_starts(line, STR("# ")) || str_starts(line, STR("## ")) || str_starts(line, STR("```")))
			return true;
	}
	return false;
}

enum readme_kind readme_kind_of(struct str content_type, struct str text)
{
	struct str type = media_type(content_type);
	if (str_eq_nocase(type, STR("text/markdown")))
		return README_MARKDOWN;
	if (str_eq_nocase(type, STR("text/x-rst")) || str_eq_nocase(type, STR("text/prs.fallenstein.rst")))
		return README_RST;
	if (type.len)
		return README_PLAIN;
	return looks_like_markdown(text) ? README_MARKDOWN : README_RST;
}

// The lines at the start of the text that fit under the limit.
static struct str cut_text(struct str text)
{
	if (text.len <= LIMIT_README)
		return text;
	struct str head = str_head(text, LIMIT_README);
	long end = str_rfind(head, '\n');
	return end > 0 ? str_slice(head, 0, (size_t)end + 1) : head;
}

static bool plain_render(struct str text, struct safe_html *w)
{
	safe_html_begin(w, SAFE_PRE);
	safe_html_text(w, text);
	safe_html_end(w);
	return true;
}

static bool render_as(struct str text, enum readme_kind kind, const struct readme_options *options, struct buf *out)
{
	static bool (*const render[README_KIND_COUNT])(struct str text, struct safe_html * w) = {
		[README_PLAIN] = plain_render,
		[README_MARKDOWN] = markdown_render,
		[README_RST] = rst_render,
	};
	CLEANUP(safe_html_release) struct safe_html w;
	size_t before = out->len;
	safe_html_init(&w, options, out);
	bool is_done = render[kind](text, &w) && !safe_html_failed(&w);
	safe_html_close_to(&w, 0);
	if (!is_done && !out->failed)
		out->len = before;
	return is_done;
}

int readme_render(struct str text, enum readme_kind kind, const struct readme_options *options, struct buf *out,
	struct err *e)
{
	struct str head = cut_text(text);
	CLEANUP(buf_release) struct buf clean = buf_up_to((size_t)LIMIT_README * 3);
	// Makes UTF-8 with LF at the ends of lines: bytes that are not UTF-8, and NUL, become U+FFFD.
	for (size_t i = 0; i < head.len; i++) {
		char c = head.ptr[i];
		size_t len = 1;
		for (; c & 0x80 && len < 4 && i + len < head.len && (head.ptr[i + len] & 0xc0) == 0x80; len++)
			;
		bool is_crlf = c == '\r' && i + 1 < head.len && head.ptr[i + 1] == '\n';
		if (is_crlf)
			continue;
		if (c == '\r')
			buf_putc(&clean, '\n');
		else if (c == '\0' || (c & 0x80 && !str_is_utf8(str_slice(head, i, i + len))))
			buf_puts(&clean, "\xef\xbf\xbd");
		else
			buf_str(&clean, str_slice(head, i, i + len));
		i += c & 0x80 ? len - 1 : 0;
	}
	if (!render_as(buf_view(&clean), kind, options, out))
		(void)!render_as(buf_view(&clean), README_PLAIN, options, out);
	if (head.len < text.len)
		buf_printf(out, "<p>The text is longer than %d KB; the rest is left out.</p>\n", LIMIT_README >> 10);
	if (out->failed)
		return err_set(e, ERR_LIMIT, "the description is too long for its page");
	return 0;
}
