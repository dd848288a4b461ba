// SPDX-License-Identifier: Apache-2.0
#include "lib/readme/readme.h"

#include "lib/base/limits.h"
#include "lib/readme/markdown.h"
#include "lib/readme/rst.h"
#include "lib/readme/safe-html.h"

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

// Makes UTF-8 with LF at the ends of lines: bytes that are not UTF-8, and NUL, become U+FFFD.
static void clean_text(struct str text, struct buf *out)
{
	for (size_t i = 0; i < text.len; i++) {
		char c = text.ptr[i];
		size_t len = 1;
		for (; c & 0x80 && len < 4 && i + len < text.len && (text.ptr[i + len] & 0xc0) == 0x80; len++)
			;
		bool is_crlf = c == '\r' && i + 1 < text.len && text.ptr[i + 1] == '\n';
		if (is_crlf)
			continue;
		if (c == '\r')
			buf_putc(out, '\n');
		else if (c == '\0' || (c & 0x80 && !str_is_utf8(str_slice(text, i, i + len))))
			buf_puts(out, "\xef\xbf\xbd");
		else
			buf_str(out, str_slice(text, i, i + len));
		i += c & 0x80 ? len - 1 : 0;
	}
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
	CLEANUP(buf_release) struct buf clean;
	struct str head = cut_text(text);
	buf_init(&clean, (size_t)LIMIT_README * 3);
	clean_text(head, &clean);
	if (!render_as(buf_view(&clean), kind, options, out))
		(void)!render_as(buf_view(&clean), README_PLAIN, options, out);
	if (head.len < text.len)
		buf_printf(out, "<p>The text is longer than %d KB; the rest is left out.</p>\n", LIMIT_README >> 10);
	if (out->failed)
		return err_set(e, ERR_LIMIT, "the description is too long for its page");
	return 0;
}
