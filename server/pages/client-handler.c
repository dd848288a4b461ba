// SPDX-License-Identifier: Apache-2.0
#include "server/pages/client-handler.h"

#include <string.h>

#include "lib/base/limits.h"
#include "lib/format/escape.h"
#include "lib/state/store/retired.h"
#include "lib/view/client-config.h"
#include "server/pages/home.h"
#include "server/pages/packed-reply.h"
#include "server/pages/page-frame.h"
#include "server/message/negotiate.h"

static void put_client_file(struct buf *out, const struct client_index *x, const struct client_template *t)
{
	CLEANUP(buf_release) struct buf text;
	buf_init(&text, LIMIT_PAGE);
	client_config_write(x, t, &text);
	buf_puts(out, "<figure class=\"card\"><figcaption>");
	html_text(out, t->title);
	buf_puts(out, "</figcaption><pre><code>");
	escape_html(out, buf_view(&text));
	buf_puts(out, "</code></pre></figure>\n");
}

// A job runs on one platform, and the address of that shows it nothing that was built for another.
static void put_parts(struct buf *out, const struct client_index *x)
{
	if (!x->platform_count)
		return;
	buf_puts(out, "<p class=\"note\">This index shows the wheels of several platforms as one, of which pip takes what "
		      "its tags allow. A job takes the index of its own platform:</p>\n<ul>\n");
	for (size_t i = 0; i < x->platform_count; i++) {
		CLEANUP(buf_release) struct buf url;
		const struct client_index part = client_config_part(x, x->platforms[i]);
		buf_init(&url, LIMIT_PAGE);
		client_config_url(&part, &url);
		buf_puts(out, "<li><a href=\"");
		escape_url(out, str_from(part.view));
		if (part.platform) {
			buf_putc(out, '/');
			escape_url(out, str_from(part.platform));
		}
		buf_puts(out, "\"><code>");
		html_text(out, url.data);
		buf_puts(out, "</code></a></li>\n");
	}
	buf_puts(out, "</ul>\n");
}

static void put_client_page(struct buf *out, const struct html_frame *frame, const struct client_index *x)
{
	CLEANUP(buf_release) struct buf url;
	const char *client = "";
	buf_init(&url, LIMIT_PAGE);
	client_config_url(x, &url);
	html_begin(out, frame, "How clients use this index", url.data);
	buf_puts(out, "</header>\n");
	if (x->needs_token)
		buf_puts(out, "<p class=\"note\">It needs a token with the right to read.</p>\n");
	put_parts(out, x);
	for (size_t i = 0; i < client_template_count; i++) {
		const struct client_template *t = &client_template[i];
		if (!client_config_needs(x, t))
			continue;
		if (strcmp(client, t->client) != 0)
			buf_printf(out, "%s<h2 id=\"%s\">%s</h2>\n<div class=\"lines\">\n", *client ? "</div>\n" : "",
				t->client, t->title);
		client = t->client;
		put_client_file(out, x, t);
	}
	buf_puts(out, "</div>\n");
	html_end(out, "<a href=\"?format=json\">JSON</a>");
}

// NULL: the default view is no view of the configuration.
static const char *default_view_of(const struct site *site)
{
	const char *name = site->config.default_view;
	return name && config_view(&site->config, name) ? name : NULL;
}

// The platforms that have addresses of their own beside the view's. The address of a retired one is not recommended.
static size_t list_addresses(const struct view *v, const char **name)
{
	size_t count = 0;
	for (size_t i = 0; v->platform_count > 1 && i < v->platform_count; i++)
		if (!retired_is(v->platform[i]))
			name[count++] = v->platform[i]->name;
	return count;
}

struct reply *client_handler_worker(struct server_context *s, struct catalog *c, const struct route_match *match)
{
	const struct request *r = match->request;
	const struct view *v = match->found_view;
	if (match->at)
		return server_context_not_found_in(s, v->is_private, "no such page: of a view as it is now");
	CLEANUP(mem_free) char *base = home_base_url(s, match->site, r);
	CLEANUP(buf_release) struct buf page;
	CLEANUP(mem_free) const char **platforms = xcalloc(v->platform_count + 1, sizeof(*platforms));
	const struct client_index x = {.base = base,
		.view = v->whole ? v->whole->name : v->name,
		.whole = v->name ? v->name : default_view_of(match->site),
		.platform = v->whole ? v->platform[0]->name : NULL,
		.needs_token = v->is_private,
		.platforms = platforms,
		.platform_count = list_addresses(v, platforms)};
	bool is_json = negotiate_page_json(r->header[HEADER_ACCEPT], r->format);
	buf_init(&page, LIMIT_PAGE);
	if (is_json) {
		CLEANUP(jsondoc_cleanup) struct jsondoc *doc = client_config_json(&x, NULL);
		jsondoc_write(doc, 0, &page);
	} else {
		const struct html_frame frame = page_frame(s, c, r->path, HTML_SECTION_NONE);
		put_client_page(&page, &frame, &x);
	}
	return packed_reply(s, negotiate_coding(r->header[HEADER_ACCEPT_ENCODING]),
		is_json ? "application/json" : "text/html; charset=utf-8", html_policy, &page, v->is_private);
}
