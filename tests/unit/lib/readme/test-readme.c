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
		{"|a|b|\n|-|-|\n|`c`|d|\n",
			"<table>\n<thead>\n<tr><th scope=\"col\">a</th><th scope=\"col\">b</th></tr>\n</thead>\n"
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
	// Browsers take a backslash for a slash.
	check(README_MARKDOWN, &document, "[a](/\\\\b.md) [c](\\\\\\\\b.md) [d](b.md\\\\x)", "<p>a c d</p>\n");
}

static void renders_html_in_markdown_as_text(void **state UNUSED)
{
	check(README_MARKDOWN, &package,
		"<p align=\"center\">\n<a href=\"https://a\"><img src=\"b\" alt=\"c\"></a>\n</p>\n\nd <b>e</b><br>"
		"<a href='javascript:f'>g</a><!-- h -->\n\n<script>i</script>\n",
		"<p><a href=\"https://a\" rel=\"nofollow noopener noreferrer\">c</a>\n</p>\n<p>d e<br>\ng</p>\n");
}

// Appends a text so often.
static void repeat(struct buf *b, const char *text, size_t count)
{
	for (size_t i = 0; i < count; i++)
		buf_puts(b, text);
}

static struct str render_long(const struct buf *text, enum readme_kind kind, struct buf *out)
{
	struct err e = ERR_INIT;
	buf_init(out, LIMIT_README_HTML * 2);
	assert_int_equal(readme_render(buf_view(text), kind, &document, out, &e), 0);
	return buf_view(out);
}

// A text that is one too many of something is shown as it is written; one less is not.
// Exceeds LIMIT_README_DEPTH, LIMIT_README_MARKERS, LIMIT_README_COLUMNS, LIMIT_README_CELLS, LIMIT_README_LINKS.
// Exceeds LIMIT_README_SCANS.
static void shows_what_has_too_much_as_plain_text(void **state UNUSED)
{
	static const struct {
		enum readme_kind kind;
		const char *before, *repeated, *after;
		size_t most;
	} of[] = {
		{README_MARKDOWN, "", ">", "a", LIMIT_README_MARKERS},
		{README_MARKDOWN, "", "- ", "a", LIMIT_README_MARKERS - 2},
		{README_MARKDOWN, "x\n", "|-", "", LIMIT_README_COLUMNS - 1},
		{README_MARKDOWN, "x\n|-|-\n", "x\n", "", LIMIT_README_CELLS / 3 - 3},
		{README_MARKDOWN, "", "[a](b) ", "", LIMIT_README_LINKS},
		{README_MARKDOWN, "a ", "<?", "", LIMIT_README_SCANS},
		{README_MARKDOWN, "[a]: b\n\n", "[a] ", "", LIMIT_README / 5},
		{README_RST, "", "- ", "a", LIMIT_README_DEPTH / 2 - 1},
	};
	for (size_t i = 0; i < ARRAY_SIZE(of); i++)
		for (size_t more = 0; more < 2; more++) {
			CLEANUP(buf_release) struct buf text, out;
			buf_init(&text, LIMIT_README * 2);
			buf_puts(&text, of[i].before);
			repeat(&text, of[i].repeated, of[i].most + more * 20);
			buf_puts(&text, of[i].after);
			bool is_plain = str_starts(render_long(&text, of[i].kind, &out), STR("<pre>"));
			assert_int_equal(is_plain, more && of[i].most != LIMIT_README / 5);
		}
}

// Exceeds LIMIT_README_EXPANDED.
static void shows_definitions_that_would_grow_as_plain_text(void **state UNUSED)
{
	static const char *const begins[] = {"[a]: ", "[a]: b '", "[a]:\n b\n \"", "[a]: <"};
	static const char *const ends[] = {"", "'", "\"", ">"};
	for (size_t i = 0; i < ARRAY_SIZE(begins); i++) {
		CLEANUP(buf_release) struct buf text, out;
		buf_init(&text, LIMIT_README * 2);
		buf_puts(&text, begins[i]);
		repeat(&text, "x", LIMIT_README_EXPANDED / 20000);
		buf_puts(&text, ends[i]);
		buf_puts(&text, "\n\n");
		repeat(&text, "[a] ", 20000);
		assert_true(str_starts(render_long(&text, README_MARKDOWN, &out), STR("<pre>")));
	}
}

static void replaces_only_so_much(void **state UNUSED)
{
	CLEANUP(buf_release) struct buf text, out;
	buf_init(&text, LIMIT_README * 2);
	buf_puts(&text, ".. |a| replace:: b");
	repeat(&text, "\\ ", 50000);
	buf_puts(&text, "\n\n");
	repeat(&text, "|a| ", LIMIT_README_EXPANDED / 100000 + 1);
	assert_true(str_starts(render_long(&text, README_RST, &out), STR("<pre>")));
}

static size_t count_of(struct str html, struct str part)
{
	size_t n = 0;
	for (size_t i = 0; i + part.len <= html.len; i++)
		n += str_eq(str_slice(html, i, i + part.len), part);
	return n;
}

// Exceeds LIMIT_README.
static void cuts_a_long_text_at_the_end_of_a_line(void **state UNUSED)
{
	CLEANUP(buf_release) struct buf text, out;
	buf_init(&text, LIMIT_README * 2);
	repeat(&text, "0123456789\n", LIMIT_README / 11 + 100);
	struct str html = render_long(&text, README_PLAIN, &out);
	assert_int_equal(count_of(html, STR("0123456789\n")), LIMIT_README / 11);
	assert_true(str_ends(html, STR("<p>The text is longer than 256 KB; the rest is left out.</p>\n")));
}

// Exceeds LIMIT_README_HTML.
static void shows_plain_text_where_its_html_is_too_long(void **state UNUSED)
{
	CLEANUP(buf_release) struct buf text, out;
	buf_init(&text, LIMIT_README * 2);
	buf_puts(&text, ".. _a: https://");
	repeat(&text, "b", 1000);
	buf_puts(&text, "\n\n");
	repeat(&text, "a_ ", LIMIT_README_HTML / 1000);
	assert_true(str_starts(render_long(&text, README_RST, &out), STR("<pre>")));
}

// Exceeds LIMIT_README_URL, LIMIT_README_IDS.
static void drops_long_links_and_many_ids(void **state UNUSED)
{
	CLEANUP(buf_release) struct buf text, out, headings, many;
	buf_init(&text, LIMIT_README * 2);
	buf_init(&headings, LIMIT_README * 2);
	buf_puts(&text, "[a](https://");
	repeat(&text, "b", LIMIT_README_URL - 8);
	buf_puts(&text, ") [a](https://");
	repeat(&text, "b", LIMIT_README_URL - 7);
	buf_puts(&text, ")");
	assert_int_equal(count_of(render_long(&text, README_MARKDOWN, &out), STR("<a")), 1);
	repeat(&headings, "# a\n", LIMIT_README_IDS + 5);
	struct str html = render_long(&headings, README_MARKDOWN, &many);
	assert_int_equal(count_of(html, STR("<h1")), LIMIT_README_IDS + 5);
	assert_int_equal(count_of(html, STR("<h1 id=")), LIMIT_README_IDS);
}

// Exceeds LIMIT_README_FRAGMENTS.
static void reads_only_so_many_pieces_of_html(void **state UNUSED)
{
	CLEANUP(buf_release) struct buf text, out;
	buf_init(&text, LIMIT_README * 2);
	repeat(&text, "<p>ab</p>\n\n", LIMIT_README_FRAGMENTS + 5);
	assert_int_equal(count_of(render_long(&text, README_MARKDOWN, &out), STR("<p>ab")), LIMIT_README_FRAGMENTS);
}

static void knows_kinds(void **state UNUSED)
{
	static const struct {
		const char *type, *text;
		enum readme_kind kind;
	} of[] = {
		{"text/markdown; charset=UTF-8; variant=GFM", "", README_MARKDOWN},
		{"Text/Markdown", "", README_MARKDOWN},
		{"text/x-rst", "# a", README_RST},
		{"text/plain", "# a", README_PLAIN},
		{"text/html", "<p>", README_PLAIN},
		{"", "a\n=\n", README_RST},
		{"", "b\n# a", README_MARKDOWN},
		{"", "```\na\n", README_MARKDOWN},
	};
	for (size_t i = 0; i < ARRAY_SIZE(of); i++)
		assert_int_equal(readme_kind_of(str_from(of[i].type), str_from(of[i].text)), of[i].kind);
}

static void refuses_a_page_without_room(void **state UNUSED)
{
	CLEANUP(buf_release) struct buf out;
	struct err e = ERR_INIT;
	buf_init(&out, 10);
	assert_int_equal(readme_render(STR("a long text"), README_MARKDOWN, &package, &out, &e), -1);
	assert_int_equal(e.kind, ERR_LIMIT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(renders_markdown),
		cmocka_unit_test(makes_anchors_and_maps_links),
		cmocka_unit_test(renders_html_in_markdown_as_text),
		cmocka_unit_test(shows_what_has_too_much_as_plain_text),
		cmocka_unit_test(shows_definitions_that_would_grow_as_plain_text),
		cmocka_unit_test(replaces_only_so_much),
		cmocka_unit_test(cuts_a_long_text_at_the_end_of_a_line),
		cmocka_unit_test(shows_plain_text_where_its_html_is_too_long),
		cmocka_unit_test(drops_long_links_and_many_ids),
		cmocka_unit_test(reads_only_so_many_pieces_of_html),
		cmocka_unit_test(knows_kinds),
		cmocka_unit_test(refuses_a_page_without_room),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
