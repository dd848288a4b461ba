// SPDX-License-Identifier: Apache-2.0
// Renders standard input for tests in Python: render-readme plain|markdown|rst|TYPE [PREFIX [LINKS]]. TYPE is a
// Description-Content-Type. PREFIX is in front of ids; LINKS is in front of relative links, which are dropped without
// it.
#include <stdio.h>

#include "lib/base/limits.h"
#include "lib/readme/readme.h"

static bool add_prefix(void *ctx, struct str target, struct buf *out)
{
	buf_puts(out, ctx);
	buf_str(out, target);
	return true;
}

static enum readme_kind kind_named(const char *name, struct str text)
{
	static const char *const names[README_KIND_COUNT] = {"plain", "markdown", "rst"};
	for (enum readme_kind kind = 0; kind < README_KIND_COUNT; kind++)
		if (strcmp(names[kind], name) == 0)
			return kind;
	return readme_kind_of(str_from(name), text);
}

int main(int argc, char **argv)
{
	CLEANUP(buf_release) struct buf text, html;
	struct readme_options options = {
		.heading_offset = 2,
		.id_prefix = argc > 2 ? argv[2] : NULL,
		.link = argc > 3 ? add_prefix : NULL,
		.link_ctx = argc > 3 ? argv[3] : NULL,
	};
	struct err e = ERR_INIT;
	buf_init(&text, 64 << 20);
	buf_init(&html, LIMIT_README_HTML);
	for (size_t n = 1; n && buf_reserve(&text, 1 << 16); text.len += n)
		n = fread(text.data + text.len, 1, 1 << 16, stdin);
	if (argc < 2 ||
		readme_render(buf_view(&text), kind_named(argv[1], buf_view(&text)), &options, &html, &e) != 0) {
		fprintf(stderr, "%s\n", e.msg);
		return 1;
	}
	fwrite(html.data, 1, html.len, stdout);
	return 0;
}
