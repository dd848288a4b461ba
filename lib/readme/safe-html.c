// SPDX-License-Identifier: Apache-2.0
#include "lib/readme/safe-html.h"

#include <assert.h>

#include "lib/base/charclass.h"
#include "lib/base/hash.h"
#include "lib/format/escape.h"

// --- heading ids ---

static void release_heading_ids(struct heading_ids *ids)
{
	mem_free(&ids->item);
	arena_release(&ids->text);
	*ids = (struct heading_ids){0};
}

// The length of the character at the start of s, which is UTF-8, if an id leaves it out: signs of Latin-1, general
// punctuation, arrows and other signs, and pictures.
static size_t sign_length(struct str s)
{
	const unsigned char *at = (const unsigned char *)s.ptr;
	if (s.len >= 2 && at[0] == 0xc2 && at[1] != 0xaa && at[1] != 0xb5 && at[1] != 0xba)
		return 2;
	if (s.len >= 3 && ((at[0] == 0xe2 && at[1] <= 0xaf) || (at[0] == 0xe3 && at[1] == 0x80)))
		return 3;
	return s.len >= 4 && at[0] == 0xf0 && at[1] == 0x9f ? 4 : 0;
}

static void add_slug(struct buf *out, struct str words)
{
	for (size_t i = 0; i < words.len; i++) {
		char c = words.ptr[i];
		size_t sign = sign_length(str_slice(words, i, words.len));
		if (sign)
			i += sign - 1;
		else if (ascii_is_alnum(c) || c == '-' || c == '_' || c & 0x80)
			buf_putc(out, ascii_lower(c));
		else if (c == ' ' || c == '\t' || c == '\n')
			buf_putc(out, '-');
	}
}

static struct heading_id *find_id(struct heading_ids *ids, struct str id)
{
	uint64_t hash = hash_of(id, 0);
	for (size_t i = 0; i < ids->count; i++)
		if (ids->item[i].hash == hash && str_eq(ids->item[i].id, id))
			return &ids->item[i];
	return NULL;
}

// Appends the id of the next heading to out: letters, digits, hyphens, underscores, and characters that are not ASCII.
// Nothing if the words have none of these, or if there are more than LIMIT_README_IDS headings. Only letters of ASCII
// become lower case.
static void add_heading_id(struct heading_ids *ids, struct str words, struct buf *out)
{
	struct heading_id *first;
	size_t len;
	CLEANUP(buf_release) struct buf slug = buf_up_to(LIMIT_README);
	add_slug(&slug, str_trim(words));
	if (slug.failed || !slug.len || ids->count == LIMIT_README_IDS)
		return;
	first = find_id(ids, buf_view(&slug));
	len = slug.len;
	for (unsigned n = first ? ++first->repeated : 0; n && !slug.failed; n = ++first->repeated) {
		slug.len = len;
		buf_printf(&slug, "-%u", n);
		if (!find_id(ids, buf_view(&slug)))
			break;
	}
	struct str id = buf_view(&slug);
	GROW(ids->item, ids->count, ids->room);
	ids->item[ids->count++] = (struct heading_id){
		.hash = hash_of(id, 0),
		.id = {arena_copy(&ids->text, id), id.len},
	};
	buf_str(out, buf_view(&slug));
}

// --- safe html ---

static const struct safe_tag {
	const char *begin, *end;
} tags[SAFE_COUNT] = {
	[SAFE_H1] = {"<h1>", "</h1>\n"},
	[SAFE_H2] = {"<h2>", "</h2>\n"},
	[SAFE_H3] = {"<h3>", "</h3>\n"},
	[SAFE_H4] = {"<h4>", "</h4>\n"},
	[SAFE_H5] = {"<h5>", "</h5>\n"},
	[SAFE_H6] = {"<h6>", "</h6>\n"},
	[SAFE_P] = {"<p>", "</p>\n"},
	[SAFE_BLOCKQUOTE] = {"<blockquote>\n", "</blockquote>\n"},
	[SAFE_UL] = {"<ul>\n", "</ul>\n"},
	[SAFE_OL] = {"<ol>\n", "</ol>\n"},
	[SAFE_LI] = {"<li>", "</li>\n"},
	[SAFE_DL] = {"<dl>\n", "</dl>\n"},
	[SAFE_DT] = {"<dt>", "</dt>\n"},
	[SAFE_DD] = {"<dd>", "</dd>\n"},
	[SAFE_PRE] = {"<pre>", "</pre>\n"},
	[SAFE_CODE] = {"<code>", "</code>"},
	[SAFE_EM] = {"<em>", "</em>"},
	[SAFE_STRONG] = {"<strong>", "</strong>"},
	[SAFE_DEL] = {"<del>", "</del>"},
	[SAFE_TABLE] = {"<table>\n", "</table>\n"},
	[SAFE_THEAD] = {"<thead>\n", "</thead>\n"},
	[SAFE_TR] = {"<tr>", "</tr>\n"},
	[SAFE_TH] = {"<th scope=\"col\">", "</th>"},
	[SAFE_TD] = {"<td>", "</td>"},
	[SAFE_A] = {"<a>", "</a>"},
};

void safe_html_init(struct safe_html *w, const struct readme_options *options, struct buf *out)
{
	*w = (struct safe_html){.out = out, .options = options, .most = out->len + LIMIT_README_HTML};
}

void safe_html_release(struct safe_html *w)
{
	release_heading_ids(&w->ids);
}

bool safe_html_failed(const struct safe_html *w)
{
	return w->too_deep || w->out->failed || w->out->len > w->most;
}

// Notes that the element is open. False if no more fit.
static bool push_element(struct safe_html *w, enum safe_element element)
{
	w->too_deep |= w->depth == LIMIT_README_DEPTH;
	if (safe_html_failed(w))
		return false;
	w->open[w->depth++] = (unsigned char)element;
	w->links += element == SAFE_A;
	return true;
}

void safe_html_begin(struct safe_html *w, enum safe_element element)
{
	if (push_element(w, element))
		buf_puts(w->out, tags[element].begin);
}

void safe_html_end(struct safe_html *w)
{
	if (safe_html_failed(w) || !w->depth)
		return;
	enum safe_element element = w->open[--w->depth];
	w->links -= element == SAFE_A;
	buf_puts(w->out, tags[element].end);
}

void safe_html_close_to(struct safe_html *w, unsigned depth)
{
	while (w->depth > depth && !safe_html_failed(w))
		safe_html_end(w);
}

enum safe_element safe_html_top(const struct safe_html *w)
{
	return w->depth ? (enum safe_element)w->open[w->depth - 1] : SAFE_COUNT;
}

void safe_html_begin_heading(struct safe_html *w, unsigned level)
{
	unsigned lowered = level + w->options->heading_offset;
	assert(level > 0);
	safe_html_begin(w, SAFE_H1 + (lowered > 6 ? 6 : lowered) - 1);
	w->heading_at = w->out->len;
}

// Copies the words of HTML that this module has written, without its tags and character references: all of these stand
// for signs that no id has.
static void strip_tags(struct buf *out, struct str html)
{
	for (size_t i = 0; i < html.len; i++) {
		const char *end = html.ptr[i] == '<'   ? memchr(html.ptr + i, '>', html.len - i)
				  : html.ptr[i] == '&' ? memchr(html.ptr + i, ';', html.len - i)
						       : NULL;
		if (end)
			i = (size_t)(end - html.ptr);
		else
			buf_putc(out, html.ptr[i]);
	}
}

// Puts the attribute into the tag of the heading, in front of the words behind it.
static void insert_id(struct safe_html *w, struct str id)
{
	CLEANUP(buf_release) struct buf rest = buf_up_to(LIMIT_README_HTML * 2);
	buf_puts(&rest, " id=\"");
	escape_html(&rest, str_from(w->options->id_prefix));
	escape_html(&rest, id);
	buf_puts(&rest, "\">");
	buf_add(&rest, w->out->data + w->heading_at, w->out->len - w->heading_at);
	w->out->len = w->heading_at - 1; // the tag's >
	buf_str(w->out, buf_view(&rest));
}

void safe_html_end_heading(struct safe_html *w)
{
	CLEANUP(buf_release) struct buf words = buf_up_to(LIMIT_README_HTML);
	CLEANUP(buf_release) struct buf id = buf_up_to(LIMIT_README_HTML);
	if (safe_html_failed(w))
		return;
	if (w->options->id_prefix) {
		strip_tags(&words, str_slice(buf_view(w->out), w->heading_at, w->out->len));
		add_heading_id(&w->ids, buf_view(&words), &id);
	}
	if (id.len)
		insert_id(w, buf_view(&id));
	safe_html_end(w);
}

void safe_html_begin_list(struct safe_html *w, unsigned start)
{
	if (!push_element(w, SAFE_OL))
		return;
	if (start == 1)
		buf_puts(w->out, tags[SAFE_OL].begin);
	else
		buf_printf(w->out, "<ol start=\"%u\">\n", start);
}

// Controls of the direction of text, and separators, are left out: they could show other words than the text has.
void safe_html_text(struct safe_html *w, struct str text)
{
	if (safe_html_failed(w))
		return;
	for (size_t from = 0, i = 0; i <= text.len; i++) {
		size_t bad =
			i < text.len && text.ptr[i] & 0x80 ? charclass_unshowable(str_slice(text, i, text.len)) : 0;
		if (i < text.len && !bad)
			continue;
		escape_html(w->out, str_slice(text, from, i));
		from = i + bad;
		i = bad ? from - 1 : i;
	}
}

void safe_html_break(struct safe_html *w)
{
	if (!safe_html_failed(w))
		buf_puts(w->out, "<br>\n");
}

void safe_html_rule(struct safe_html *w)
{
	if (!safe_html_failed(w))
		buf_puts(w->out, "<hr>\n");
}

static bool has_scheme(struct str url, struct str scheme)
{
	return url.len > scheme.len && str_eq_nocase(str_slice(url, 0, scheme.len), scheme);
}

static bool is_foreign_url(struct str url)
{
	return has_scheme(url, STR("https://")) || has_scheme(url, STR("http://")) || has_scheme(url, STR("mailto:"));
}

// True for a target that has neither scheme nor host, in the eyes of any client: no control character, which clients
// leave out, no backslash, which some take for a slash, no colon in its first segment, and no second slash in front.
static bool is_relative_url(struct str url)
{
	bool is_first = true;
	if (!url.len || (url.len >= 2 && url.ptr[0] == '/' && url.ptr[1] == '/'))
		return false;
	for (size_t i = 0; i < url.len; i++) {
		unsigned char c = (unsigned char)url.ptr[i];
		if (c < ' ' || c == 0x7f || c == '\\' || (c == ':' && is_first))
			return false;
		is_first = is_first && c != '/' && c != '?' && c != '#';
	}
	return true;
}

// Adds the URL of a relative target, not escaped. False: none.
static bool map_target(const struct safe_html *w, struct str target, struct buf *url)
{
	const struct readme_options *o = w->options;
	if (!is_relative_url(target))
		return false;
	if (target.ptr[0] != '#')
		return o->link && o->link(o->link_ctx, target, url);
	if (!o->id_prefix)
		return false;
	buf_puts(url, "#");
	buf_puts(url, o->id_prefix);
	buf_str(url, str_slice(target, 1, target.len));
	return true;
}

bool safe_html_begin_link(struct safe_html *w, struct str target)
{
	target = str_trim(target);
	bool is_foreign = is_foreign_url(target);
	CLEANUP(buf_release) struct buf mapped = buf_up_to(LIMIT_README_URL);
	CLEANUP(buf_release) struct buf url = buf_up_to(LIMIT_README_URL * 3);
	if (safe_html_failed(w) || w->links || target.len > LIMIT_README_URL)
		return false;
	if (!is_foreign && !map_target(w, target, &mapped))
		return false;
	escape_reference(&url, is_foreign ? target : buf_view(&mapped));
	if (mapped.failed || url.failed || !push_element(w, SAFE_A))
		return false;
	buf_puts(w->out, "<a href=\"");
	escape_html(w->out, buf_view(&url));
	buf_puts(w->out, is_foreign ? "\" rel=\"nofollow noopener noreferrer\">" : "\">");
	return true;
}

// The last part of the path of a URL.
static struct str name_in_url(struct str url)
{
	long end = str_find(url, '?');
	url = str_slice(url, 0, end < 0 ? url.len : (size_t)end);
	return str_slice(url, (size_t)(str_rfind(url, '/') + 1), url.len);
}

void safe_html_image(struct safe_html *w, struct str target, struct str alt)
{
	struct str name = name_in_url(target), words = str_trim(alt);
	bool is_link = safe_html_begin_link(w, target);
	safe_html_text(w, words.len ? words : name.len ? name : STR("image"));
	if (is_link)
		safe_html_end(w);
}

// --- bare links ---

// Offset of the scheme of the next URL at or behind from; text.len: there is none.
static size_t find_url(struct str text, size_t from)
{
	for (size_t at = from; at < text.len; at++) {
		const char *h = memchr(text.ptr + at, ':', text.len - at);
		size_t colon = h ? (size_t)(h - text.ptr) : text.len;
		size_t begin = 0;
		if (!h)
			break;
		if (colon >= from + 5 && str_eq_nocase(str_slice(text, colon - 5, colon), STR("https")))
			begin = colon - 5;
		else if (colon >= from + 4 && str_eq_nocase(str_slice(text, colon - 4, colon), STR("http")))
			begin = colon - 4;
		else
			colon = text.len; // no URL ends here
		if (colon < text.len && text.len - colon > 3 && text.ptr[colon + 1] == '/' &&
			text.ptr[colon + 2] == '/' && ascii_is_alnum(text.ptr[colon + 3]) &&
			(begin == 0 || !ascii_is_alnum(text.ptr[begin - 1])))
			return begin;
		at = (size_t)(h - text.ptr);
	}
	return text.len;
}

// The length of the URL at the start of s, without the signs of the sentence around it.
static size_t url_length(struct str s)
{
	size_t len = charclass_run(s, CHARCLASS_URL), opened = 0, closed = 0;
	for (size_t i = 0; i < len; i++) {
		opened += s.ptr[i] == '(';
		closed += s.ptr[i] == ')';
	}
	while (len && (memchr(".,:;!?'*_~[]", s.ptr[len - 1], 12) || (s.ptr[len - 1] == ')' && closed > opened)))
		closed -= s.ptr[--len] == ')';
	return len;
}

void bare_links_write(struct safe_html *w, struct str text)
{
	for (size_t at = 0; at < text.len;) {
		size_t url = w->links ? text.len : find_url(text, at);
		size_t end = url + url_length(str_slice(text, url, text.len));
		safe_html_text(w, str_slice(text, at, url));
		bool is_link = url < end && safe_html_begin_link(w, str_slice(text, url, end));
		safe_html_text(w, str_slice(text, url, end));
		if (is_link)
			safe_html_end(w);
		at = end;
	}
}
