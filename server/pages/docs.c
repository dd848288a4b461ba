// SPDX-License-Identifier: Apache-2.0
#include "server/pages/docs.h"

#include "lib/base/limits.h"
#include "lib/base/mem.h"
#include "lib/format/escape.h"
#include "lib/readme/readme.h"
#include "server/pages/page.h"

const struct docs_page docs_page[] = {
#include "server/pages/docs-pages.inc"
};
const size_t docs_page_count = ARRAY_SIZE(docs_page);

const struct docs_page *docs_page_named(struct str name)
{
	for (size_t i = 0; i < docs_page_count; i++)
		if (str_eq(name, str_from(docs_page[i].name)))
			return &docs_page[i];
	return NULL;
}

// On a forge README.md is one folder above the others.
struct str docs_page_link(struct str target)
{
	static const struct str folder[] = {STR("docs/"), STR("../")};
	for (size_t i = 0; i < ARRAY_SIZE(folder); i++)
		if (str_starts(target, folder[i]))
			target = str_slice(target, folder[i].len, target.len);
	struct str rest = target;
	return docs_page_named(str_cut(&rest, '#')) ? target : STR("");
}

static bool map_docs_link(void *ctx UNUSED, struct str target, struct buf *out)
{
	struct str link = docs_page_link(target);
	buf_str(out, link);
	return link.len > 0;
}

static struct reply *prepare_docs(struct page_query *q)
{
	const struct docs_page *p = docs_page_named(q->match->file);
	q->is_private = false;
	return p || !q->match->file.len ? NULL : server_context_not_found(q->context, "no such page");
}

static int write_docs(struct page_query *q, struct buf *out, struct err *e)
{
	const struct docs_page *p = docs_page_named(q->match->file.len ? q->match->file : STR("index.md"));
	static const struct readme_options options = {.id_prefix = "", .link = map_docs_link};
	struct str text = str_from(p->text), first = str_cut(&text, '\n'), mark = STR("# ");
	CLEANUP(mem_free) char *title = xstrndup(first.ptr + mark.len, first.len - mark.len);
	html_begin(out, page_frame(q), title, "Documentation of wheelcache " PACKAGE_VERSION);
	buf_puts(out, "</header>\n<article class=\"card prose\">\n");
	if (readme_render(text, README_MARKDOWN, &options, out, e) < 0)
		return err_prefix(e, "%s: ", p->name);
	buf_puts(out, "</article>\n");
	html_end(out, "<a href=\"./\">all pages of the documentation</a>");
	return 0;
}

const struct page_row documentation_page = {
	.section = HTML_SECTION_DOCS,
	.forms = 1 << PAGE_FORM_HTML,
	.most = LIMIT_PAGE,
	.prepare = prepare_docs,
	.write = write_docs,
};
