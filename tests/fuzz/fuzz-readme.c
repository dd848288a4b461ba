// SPDX-License-Identifier: Apache-2.0
// Texts of others as HTML. The first byte is the kind: p, m or r. Whatever the text is, the page has only tags that the
// renderer may write, all of them closed, and links only to where links may lead.
#include "lib/readme/readme.h"

#include <string.h>

#include "lib/base/limits.h"
#include "tests/fuzz/fuzz.h"

#define REL "\" rel=\"nofollow noopener noreferrer"

static const char *const elements[] = {"h1", "h2", "h3", "h4", "h5", "h6", "p", "blockquote", "ul", "ol", "li", "dl",
	"dt", "dd", "pre", "code", "em", "strong", "del", "table", "thead", "tr", "th", "td", "a", "br", "hr"};

static bool add_files(void *ctx, struct str target, struct buf *out)
{
	(void)ctx;
	buf_puts(out, "/files/");
	buf_str(out, target);
	return true;
}

static struct str element_of(struct str tag)
{
	struct str name = str_cut(&tag, ' ');
	for (size_t i = 0; i < ARRAY_SIZE(elements); i++)
		if (str_eq(name, str_from(elements[i])))
			return name;
	HOLDS(!"a known element");
	return name;
}

static bool is_void(struct str name)
{
	return str_eq(name, STR("br")) || str_eq(name, STR("hr"));
}

// The attributes of a tag, behind its name.
static void check_attributes(struct str name, struct str rest)
{
	static const struct str begins[] = {STR("http://"), STR("https://"), STR("mailto:")};
	bool is_foreign = false, is_link = str_starts(rest, STR(" href=\""));
	struct str value = str_slice(rest, is_link ? 7 : 0, rest.len);
	for (size_t i = 0; i < ARRAY_SIZE(begins); i++)
		is_foreign |= is_link && str_eq_nocase(str_head(value, begins[i].len), begins[i]);
	if (!rest.len)
		return;
	HOLDS(rest.ptr[rest.len - 1] == '"' && !memchr(rest.ptr, '\n', rest.len));
	if (is_link) {
		HOLDS(str_eq(name, STR("a")));
		HOLDS(is_foreign ? str_ends(rest, STR(REL "\""))
				 : str_starts(value, STR("/files/")) || str_starts(value, STR("#readme-")));
	} else
		HOLDS((name.ptr[0] == 'h' && str_starts(rest, STR(" id=\"readme-"))) ||
			str_eq(rest, STR(" scope=\"col\"")) || str_starts(rest, STR(" start=\"")));
	size_t quotes = 0;
	for (size_t i = 0; i < rest.len; i++)
		quotes += rest.ptr[i] == '"';
	HOLDS(quotes == (is_foreign ? 4 : 2));
}

static void check_html(struct str html)
{
	struct str open[LIMIT_README_DEPTH + 1];
	size_t depth = 0;
	for (size_t i = 0; i < html.len; i++) {
		HOLDS(html.ptr[i] != '>' && html.ptr[i] != '\0');
		if (html.ptr[i] != '<')
			continue;
		const char *end = memchr(html.ptr + i, '>', html.len - i);
		HOLDS(end);
		struct str tag = str_slice(html, i + 1, (size_t)(end - html.ptr));
		i = (size_t)(end - html.ptr);
		if (tag.len && tag.ptr[0] == '/') {
			HOLDS(depth && str_eq(open[--depth], str_slice(tag, 1, tag.len)));
			continue;
		}
		struct str name = element_of(tag);
		check_attributes(name, str_slice(tag, name.len, tag.len));
		HOLDS(is_void(name) || depth < LIMIT_README_DEPTH);
		if (!is_void(name))
			open[depth++] = name;
	}
	HOLDS(depth == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	static const struct readme_options options = {.heading_offset = 2, .id_prefix = "readme-", .link = add_files};
	struct str text = fuzz_text(bytes, size);
	struct err e = ERR_INIT;
	CLEANUP(buf_release) struct buf html;
	buf_init(&html, LIMIT_README_HTML * 2);
	if (!text.len)
		return 0;
	enum readme_kind kind = text.ptr[0] == 'm' ? README_MARKDOWN : text.ptr[0] == 'r' ? README_RST : README_PLAIN;
	HOLDS(readme_render(str_slice(text, 1, text.len), kind, &options, &html, &e) == 0);
	HOLDS(str_is_utf8(buf_view(&html)));
	check_html(buf_view(&html));
	return 0;
}
