// SPDX-License-Identifier: Apache-2.0
#include "server/pages/docs-handler.h"

#include "lib/base/limits.h"
#include "lib/format/escape.h"
#include "lib/readme/readme.h"
#include "server/pages/docs-text.h"
#include "server/pages/packed-reply.h"
#include "server/pages/page-frame.h"

static bool map_docs_link(void *ctx UNUSED, struct str target, struct buf *out)
{
	struct str link = docs_page_link(target);
	buf_str(out, link);
	return link.len > 0;
}

static int put_docs_page(struct buf *out, const struct html_frame *frame, const struct docs_page *p, struct err *e)
{
	static const struct readme_options options = {.id_prefix = "", .link = map_docs_link};
	struct str text = str_from(p->text), first = str_cut(&text, '\n'), mark = STR("# ");
	CLEANUP(mem_free) char *title = xstrndup(first.ptr + mark.len, first.len - mark.len);
	html_begin(out, frame, title, "Documentation of wheelcache " PACKAGE_VERSION);
	buf_puts(out, "</header>\n<article class=\"card prose\">\n");
	if (readme_render(text, README_MARKDOWN, &options, out, e) < 0)
		return err_prefix(e, "%s: ", p->name);
	buf_puts(out, "</article>\n");
	html_end(out, "<a href=\"./\">all pages of the documentation</a>");
	return 0;
}

static struct reply *reply_docs_page(struct server_context *s, struct catalog *c, const struct request *r,
	const struct docs_page *p)
{
	struct err e = ERR_INIT;
	CLEANUP(buf_release) struct buf page;
	buf_init(&page, LIMIT_PAGE);
	const struct html_frame frame = page_frame(s, c, r->path, HTML_SECTION_DOCS);
	if (put_docs_page(&page, &frame, p, &e) < 0)
		return server_context_error(&e);
	return packed_reply(s, negotiate_coding(r->header[HEADER_ACCEPT_ENCODING]), "text/html; charset=utf-8",
		html_policy, &page, false);
}

struct reply *docs_handler_index(struct server_context *s, struct catalog *c, const struct route_match *match)
{
	return reply_docs_page(s, c, match->request, docs_page_named(STR("index.md")));
}

struct reply *docs_handler_page(struct server_context *s, struct catalog *c, const struct route_match *match)
{
	const struct docs_page *p = docs_page_named(match->file);
	return p ? reply_docs_page(s, c, match->request, p) : server_context_not_found(s, "no such page");
}
