// SPDX-License-Identifier: Apache-2.0
#include "server/pages/install-index.h"

#include <string.h>

#include "lib/base/limits.h"
#include "lib/format/escape.h"

// The view of the configuration that it is; NULL: none.
static const char *configured_name(const struct site *s, const struct view *v)
{
	const char *name = v->name ? v->name : s->config.default_view;
	return name && config_view(&s->config, name) ? name : NULL;
}

struct client_index install_index_of(const struct site *s, const struct view *v,
	const struct platform *const *platform, size_t platforms, const char *base)
{
	const char *name = configured_name(s, v);
	struct client_index x = {.base = base, .view = v->name, .needs_token = v->is_private};
	bool is_of_all = v == &s->view[0] && !name && s->has_no_default; // which has no platform
	if (v->platform_count < 2 && !is_of_all)
		return x;
	for (size_t i = 0; i < platforms && !x.platform; i++)
		if (is_of_all || view_has(v, platform[i])) {
			x.view = name;
			x.platform = platform[i]->name;
			x.needs_token = platform[i]->is_private;
		}
	return x;
}

void install_index_command(const struct client_index *x, const char *requirement, struct buf *out)
{
	CLEANUP(buf_release) struct buf untrusted;
	const char *quote = strchr(requirement, '!') ? "'" : "";
	buf_init(&untrusted, LIMIT_PAGE);
	client_config_distrusted(str_from(x->base), &untrusted);
	buf_puts(out, "pip install --index-url ");
	client_config_url(x, out);
	buf_puts(out, untrusted.len ? " --trusted-host " : "");
	buf_str(out, buf_view(&untrusted));
	buf_printf(out, " %s%s%s", quote, requirement, quote);
}

void install_index_page(const struct client_index *x, struct buf *out)
{
	const char *const part[] = {x->view, x->platform};
	buf_puts(out, "-/client-config");
	for (size_t i = 0; i < ARRAY_SIZE(part); i++)
		if (part[i]) {
			buf_putc(out, '/');
			escape_url(out, str_from(part[i]));
		}
	buf_puts(out, x->view || x->platform ? "" : "/simple");
}
