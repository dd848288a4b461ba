// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "lib/base/limits.h"
#include "lib/format/escape.h"
#include "lib/state/store/retired.h"
#include "lib/view/client-config.h"
#include "server/pages/page.h"

// A job runs on one platform, and the address of that shows it nothing that was built for another.
static void put_parts(struct buf *out, const struct client_index *x)
{
	if (!x->platform_count)
		return;
	buf_puts(out, "<p class=\"note\">This index shows the wheels of several platforms as one, of which pip takes what "
		      "its tags allow. A job takes the index of its own platform:</p>\n<ul>\n");
	for (size_t i = 0; i < x->platform_count; i++) {
		CLEANUP(buf_release) struct buf url = buf_up_to(LIMIT_PAGE);
		const struct client_index part = client_config_part(x, x->platforms[i]);
		client_config_url(&part, &url);
		html_put(out, "<li><a href=\"%u", part.view);
		if (part.platform)
			html_put(out, "/%u", part.platform);
		html_put(out, "\"><code>%s</code></a></li>\n", url.data);
	}
	buf_puts(out, "</ul>\n");
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

static struct reply *prepare_client_page(struct page_query *q)
{
	q->is_private = q->match->found_view->is_private;
	return q->match->at ? page_not_found(q, "no such page: of a view as it is now") : NULL;
}

static int write_client_page(struct page_query *q, struct buf *out, struct err *e UNUSED)
{
	const struct view *v = q->match->found_view;
	CLEANUP(mem_free) const char **platforms = xcalloc(v->platform_count + 1, sizeof(*platforms));
	const struct client_index x = {.base = q->base,
		.view = v->whole ? v->whole->name : v->name,
		.whole = v->name ? v->name : default_view_of(q->site),
		.platform = v->whole ? v->platform[0]->name : NULL,
		.needs_token = v->is_private,
		.platforms = platforms,
		.platform_count = list_addresses(v, platforms)};
	if (q->form == PAGE_FORM_HTML) {
		CLEANUP(buf_release) struct buf url = buf_up_to(LIMIT_PAGE);
		const char *client = "";
		client_config_url(&x, &url);
		html_begin(out, page_frame(q), "How clients use this index", url.data);
		buf_puts(out, "</header>\n");
		if (x.needs_token)
			buf_puts(out, "<p class=\"note\">It needs a token with the right to read.</p>\n");
		put_parts(out, &x);
		for (size_t i = 0; i < client_template_count; i++) {
			const struct client_template *t = &client_template[i];
			if (!client_config_needs(&x, t))
				continue;
			if (strcmp(client, t->client) != 0)
				buf_printf(out, "%s<h2 id=\"%s\">%s</h2>\n<div class=\"lines\">\n", *client ? "</div>\n"
					: "", t->client, t->title);
			client = t->client;
			CLEANUP(buf_release) struct buf text = buf_up_to(LIMIT_PAGE);
			client_config_write(&x, t, &text);
			html_put(out, "<figure "
				"class=\"card\"><figcaption>%s</figcaption><pre><code>%s</code></pre></figure>\n",
				t->title, text.data);
		}
		buf_puts(out, "</div>\n");
		html_end(out, "<a href=\"?format=json\">JSON</a>");
		return 0;
	}
	CLEANUP(jsondoc_cleanup) struct jsondoc *doc = client_config_json(&x, NULL);
	jsondoc_write(doc, 0, out);
	return 0;
}

// Its forms are those of lib/view/client-config.h.
const struct page_row client_page = {
	.section = HTML_SECTION_NONE,
	.scope = PAGE_SCOPE_VIEW,
	.has_base = true,
	.most = LIMIT_PAGE,
	.prepare = prepare_client_page,
	.write = write_client_page,
};
