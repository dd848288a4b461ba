// SPDX-License-Identifier: Apache-2.0
#include "server/pages/html-layout.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { PAGE_MOST = 1 << 16 };

static void write_page(const struct html_frame *f, const char *title, const char *words, struct buf *out)
{
	buf_init(out, PAGE_MOST);
	html_begin(out, f, title, words);
	buf_puts(out, "</header>\n");
	html_end(out, "the end");
	assert_false(out->failed);
}

static void assert_order(const struct buf *page, const char *const *want, size_t count)
{
	const char *at = page->data;
	for (size_t i = 0; i < count; i++) {
		const char *found = strstr(at, want[i]);
		if (!found)
			fail_msg("no '%s' in its place in:\n%s", want[i], page->data);
		at = found + 1;
	}
}

static void frame_of_a_server(void **state)
{
	(void)state;
	char style[64], script[64];
	snprintf(style, sizeof(style), "href=\"../../-/style.css?v=%s\">", html_asset_version(HTML_STYLE));
	snprintf(script, sizeof(script), "src=\"../../-/page.js?v=%s\" defer>", html_asset_version(HTML_SCRIPT));
	const char *const want[] = {
		"<html lang=\"en\">",
		"<title>a &lt;b&gt; · wheelcache</title>",
		style,
		script,
		"<a class=\"skip\" href=\"#main\">",
		"<header class=\"top\">",
		"<a class=\"brand\" href=\"../../\">",
		"<nav aria-label=\"Sections\"><a href=\"../../\">Overview</a>"
		"<a href=\"../../-/builds/\" aria-current=\"page\">Builds</a></nav>",
		"<main id=\"main\">",
		"<h1>a &lt;b&gt;</h1><p>&amp;</p>",
		"</main>\n<footer>",
		"the end",
	};
	const struct html_frame f = {
		.root = "../../",
		.here = HTML_SECTION_BUILDS,
		.sections = 1U << HTML_SECTION_HOME | 1U << HTML_SECTION_BUILDS,
	};
	CLEANUP(buf_release) struct buf page;
	write_page(&f, "a <b>", "&", &page);
	assert_order(&page, want, ARRAY_SIZE(want));
	assert_null(strstr(page.data, "<style"));
	assert_null(strstr(page.data, "role=\"search\""));
}

static void home_links_to_itself(void **state)
{
	(void)state;
	static const char *const want[] = {
		"<title>wheelcache</title>",
		"href=\"-/style.css?v=",
		"<a class=\"brand\" href=\"./\">",
		"<a href=\"./\" aria-current=\"page\">Overview</a><a href=\"-/docs/\">Docs</a>",
		"action=\"-/search\"",
		"<h1>wheelcache</h1></div>",
	};
	const struct html_frame f = {
		.root = "", .sections = 1U << HTML_SECTION_HOME | 1U << HTML_SECTION_DOCS, .has_search = true};
	CLEANUP(buf_release) struct buf page;
	write_page(&f, "wheelcache", "", &page);
	assert_order(&page, want, ARRAY_SIZE(want));
}

// A file that is opened without a server loads nothing and links to nothing.
static void frame_of_a_file(void **state)
{
	(void)state;
	CLEANUP(buf_release) struct buf page;
	write_page(&(struct html_frame){0}, "a", "b", &page);
	assert_non_null(strstr(page.data, html_asset[HTML_STYLE].text));
	assert_null(strstr(page.data, "href=\"#main\""));
	assert_null(strstr(page.data, "<script"));
	assert_null(strstr(page.data, "rel=\"stylesheet\""));
}

static void boxes_are_named(void **state)
{
	(void)state;
	CLEANUP(buf_release) struct buf out;
	buf_init(&out, PAGE_MOST);
	html_begin_table(&out, "\"x\"", "card wide", "A|B");
	html_end_table(&out);
	assert_string_equal(out.data,
		"<div class=\"card wide\" role=\"region\" aria-label=\"&quot;x&quot;\"><table>\n"
		"<thead><tr><th scope=\"col\">A</th><th scope=\"col\">B</th></tr></thead>\n<tbody>\n"
		"</tbody>\n</table></div>\n");
}

static void sizes_and_counts(void **state)
{
	(void)state;
	CLEANUP(buf_release) struct buf out;
	buf_init(&out, PAGE_MOST);
	html_size(&out, 999);
	html_size(&out, 5500000000);
	html_count(&out, 1234567);
	html_count(&out, 0);
	html_put(&out, " %m, %m ", 1, "file|files", 1200, "is|are");
	html_time(&out, 1767323045);
	assert_string_equal(out.data,
		"999 B5.5 GB1,234,5670 1 file, 1,200 are <time datetime=\"2026-01-02T03:04:05Z\"><span class=\"name\">2026-01-02</span> "
		"<span class=\"name\">03:04 UTC</span></time>");
}

static void forms_with_values(void **state)
{
	(void)state;
	const char *none = NULL;
	struct buf out;
	buf_init(&out, PAGE_MOST);
	html_put(&out, "<a href=\"%u\">%s</a>%s", "a/b&c", "<b>\"&", none);
	assert_string_equal(out.data, "<a href=\"a%2Fb%26c\">&lt;b&gt;&quot;&amp;</a>");
	buf_clear(&out);
	html_put(&out, "%h %d %n %b 100%%", "<br>", (size_t)1234, INT64_C(1234567), UINT64_C(5500000000));
	assert_string_equal(out.data, "<br> 1234 1,234,567 5.5 GB 100%");
	buf_clear(&out);
	html_put(&out, "%t", 1795348800);
	assert_non_null(strstr(out.data, "datetime=\"2026-11-22T12:00:00Z\""));
	buf_release(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frame_of_a_server),
		cmocka_unit_test(home_links_to_itself),
		cmocka_unit_test(frame_of_a_file),
		cmocka_unit_test(boxes_are_named),
		cmocka_unit_test(sizes_and_counts),
		cmocka_unit_test(forms_with_values),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
