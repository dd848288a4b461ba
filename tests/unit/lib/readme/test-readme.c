// SPDX-License-Identifier: Apache-2.0
#include "lib/readme/readme.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lib/base/limits.h"

static bool map_link(void *ctx UNUSED, struct str target, struct buf *out)
{
	buf_puts(out, "/-/docs/");
	buf_str(out, target);
	return !str_starts(target, STR("none"));
}

static const struct readme_options package = {.heading_offset = 2};
static const struct readme_options document = {.id_prefix = "", .link = map_link};

static void check(enum readme_kind kind, const struct readme_options *o, const char *text, const char *expected)
{
	CLEANUP(buf_release) struct buf out;
	struct err e = ERR_INIT;
	buf_init(&out, LIMIT_README_HTML);
	assert_int_equal(readme_render(str_from(text), kind, o, &out, &e), 0);
	assert_string_equal(out.data, expected);
}

static void renders_markdown(void **state UNUSED)
{
	static const struct {
		const char *text, *html;
	} of[] = {
		{"", ""},
		{"# A\n\nb *c* **d** ~~e~~ `f<`\n", "<h3>A</h3>\n<p>b <em>c</em> <strong>d</strong> <del>e</del> "
						    "<code>f&lt;</code></p>\n"},
		{"##### A", "<h6>A</h6>\n"},
		{"- a\n- b\n", "<ul>\n<li>a</li>\n<li>b</li>\n</ul>\n"},
		{"- a\n\n- b\n", "<ul>\n<li><p>a</p>\n</li>\n<li><p>b</p>\n</li>\n</ul>\n"},
		{"3. a\n", "<ol start=\"3\">\n<li>a</li>\n</ol>\n"},
		{"> a\n", "<blockquote>\n<p>a</p>\n</blockquote>\n"},
		{"a  \nb\nc\n\n---\n", "<p>a<br>\nb\nc</p>\n<hr>\n"},
		{"```py\n<b>\n```\n", "<pre><code>&lt;b&gt;\n</code></pre>\n"},
		{"|a|b|\n|-|-|\n|`c`|d|\n", "<table>\n<thead>\n<tr><th scope=\"col\">a</th><th scope=\"col\">b</th></tr>\n</thead>\n"
					    "<tr><td><code>c</code></td><td>d</td></tr>\n</table>\n"},
		{"[a](https://b/?c&d)",
			"<p><a href=\"https://b/?c&amp;d\" rel=\"nofollow noopener noreferrer\">a</a></p>\n"},
		{"![a *b*](https://c/d.png)",
			"<p><a href=\"https://c/d.png\" rel=\"nofollow noopener noreferrer\">a b</a></p>\n"},
		{"[![a](https://c/d.png)](https://e)",
			"<p><a href=\"https://e\" rel=\"nofollow noopener noreferrer\">a</a></p>\n"},
		{"(https://a_b/c).",
			"<p>(<a href=\"https://a_b/c\" rel=\"nofollow noopener noreferrer\">https://a_b/c</a>).</p>\n"},
		{"[a](b.md) [c](#d)", "<p>a c</p>\n"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(of); i++)
		check(README_MARKDOWN, &package, of[i].text, of[i].html);
}

static void makes_anchors_and_maps_links(void **state UNUSED)
{
	check(README_MARKDOWN, &document, "# A b, *c*!\n## A b c\n# D `e_f` & g\n",
		"<h1 id=\"a-b-c\">A b, <em>c</em>!</h1>\n<h2 id=\"a-b-c-1\">A b c</h2>\n"
		"<h1 id=\"d-e_f--g\">D <code>e_f</code> &amp; g</h1>\n");
	check(README_MARKDOWN, &document, "[a](b.md#c) [d](#e) [f](none) [g](//h) [i](x:y)",
		"<p><a href=\"/-/docs/b.md#c\">a</a> <a href=\"#e\">d</a> f g i</p>\n");
}

static void renders_html_in_markdown_as_text(void **state UNUSED)
{
	check(README_MARKDOWN, &package,
		"<p align=\"center\">\n<a href=\"https://a\"><img src=\"b\" alt=\"c\"></a>\n</p>\n\nd <b>e</b><br>"
		"<a href='javascript:f'>g</a><!-- h -->\n\n<script>i</script>\n",
		"<p><a href=\"https://a\" rel=\"nofollow noopener noreferrer\">c</a>\n</p>\n<p>d e<br>\ng</p>\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(renders_markdown),
		cmocka_unit_test(makes_anchors_and_maps_links),
		cmocka_unit_test(renders_html_in_markdown_as_text),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
