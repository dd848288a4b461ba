// SPDX-License-Identifier: Apache-2.0
#include "lib/readme/markdown.h"

#include <pthread.h>
#include <stdlib.h>

#include <cmark-gfm-core-extensions.h>
#include <cmark-gfm.h>

#include "lib/base/limits.h"
#include "lib/readme/bare-links.h"
#include "lib/readme/html-fragment.h"
#include "lib/readme/markdown-bounds.h"

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

static void visit_node(struct markdown *m, cmark_node *node, bool is_begin)
{
	cmark_node_type type = cmark_node_get_type(node);
	if (type == CMARK_NODE_IMAGE)
		visit_image(m, node, is_begin);
	else if (type == CMARK_NODE_TEXT || (type == CMARK_NODE_CODE && m->images))
		buf_puts(&m->text, cmark_node_get_literal(node));
	else if (type == CMARK_NODE_SOFTBREAK)
		buf_putc(&m->text, '\n');
	else if (!m->images)
		visit_element(m, node, is_begin);
}

static void write_document(cmark_node *root, struct safe_html *w)
{
	struct markdown m = {.w = w};
	cmark_iter *iter = cmark_iter_new(root);
	buf_init(&m.text, LIMIT_README_HTML);
	for (cmark_event_type event; (event = cmark_iter_next(iter)) != CMARK_EVENT_DONE && !safe_html_failed(w);)
		visit_node(&m, cmark_iter_get_node(iter), event == CMARK_EVENT_ENTER);
	cmark_iter_free(iter);
	buf_release(&m.text);
}

static cmark_node *parse_markdown(struct str text)
{
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
	return root;
}

bool markdown_render(struct str text, struct safe_html *w)
{
	if (markdown_excess(text))
		return false;
	cmark_node *root = parse_markdown(text);
	write_document(root, w);
	cmark_node_free(root);
	return true;
}
