// SPDX-License-Identifier: Apache-2.0
#include "lib/readme/html-fragment.h"

#include <strings.h>

#include "lib/format/html.h"

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
	const char *src = html_attribute(attributes, "src"), *alt = html_attribute(attributes, "alt");
	safe_html_image(w, str_from(src ? src : ""), str_from(alt ? alt : ""));
}

static void on_fragment_begin(void *ctx, const char *name, const char *const *attributes)
{
	struct fragment *f = ctx;
	enum fragment_kind kind = kind_of(name);
	const char *href = kind == FRAGMENT_LINK ? html_attribute(attributes, "href") : NULL;
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

static void on_fragment_comment(void *ctx, struct str text)
{
	(void)ctx, (void)text;
}

void html_fragment_write(struct safe_html *w, struct str html)
{
	static const struct html_handler handler = {
		on_fragment_begin, on_fragment_end, on_fragment_text, on_fragment_comment};
	struct fragment f = {.w = w, .base = w->depth};
	struct err e = ERR_INIT;
	if (html_read(html, &handler, &f, &e) != 0)
		safe_html_text(w, STR(""));
	safe_html_close_to(w, f.base);
}

static void on_tag_begin(void *ctx, const char *name, const char *const *attributes)
{
	struct safe_html *w = ctx;
	enum fragment_kind kind = kind_of(name);
	const char *href = kind == FRAGMENT_LINK ? html_attribute(attributes, "href") : NULL;
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

void html_fragment_write_tag(struct safe_html *w, struct str tag)
{
	static const struct html_handler handler = {on_tag_begin, on_tag_end, on_tag_text, on_fragment_comment};
	struct err e = ERR_INIT;
	if (is_tag(tag, STR("</a")) && safe_html_top(w) == SAFE_A)
		safe_html_end(w);
	if (is_tag(tag, STR("<a")) || is_tag(tag, STR("<img")) || is_tag(tag, STR("<br")))
		(void)!html_read(tag, &handler, w, &e);
}
