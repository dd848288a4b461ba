// SPDX-License-Identifier: Apache-2.0
#include "lib/readme/rst.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lib/base/limits.h"
#include "lib/readme/readme.h"

#define REL " rel=\"nofollow noopener noreferrer\""

struct rst_case {
	const char *text, *html;
};

static void check_cases(const struct rst_case *of, size_t count)
{
	static const struct readme_options package = {.heading_offset = 2};
	for (size_t i = 0; i < count; i++) {
		CLEANUP(buf_release) struct buf out;
		struct err e = ERR_INIT;
		buf_init(&out, LIMIT_README_HTML);
		assert_int_equal(readme_render(str_from(of[i].text), README_RST, &package, &out, &e), 0);
		assert_string_equal(out.data, of[i].html);
	}
}

static void writes_sections_and_paragraphs(void **state UNUSED)
{
	static const struct rst_case of[] = {
		{"", ""},
		{"a\nb\n\nc\n", "<p>a\nb</p>\n<p>c</p>\n"},
		{"===\nA<\n===\n\nB\n-\n\nBB\n--\n\nCC\n---\n\nDD\n~~~\n\nEE\n---\n",
			"<h3>A&lt;</h3>\n<p>B\n-</p>\n<p>BB\n--</p>\n<h4>CC</h4>\n<h5>DD</h5>\n<h4>EE</h4>\n"},
		{"a\n\n----\n\nb\n", "<p>a</p>\n<hr>\n<p>b</p>\n"},
		{"a\n\n  b\n\n  c\n", "<p>a</p>\n<blockquote>\n<p>b</p>\n<p>c</p>\n</blockquote>\n"},
		{"a::\n\n  b < c\n    d\n\ne\n", "<p>a:</p>\n<pre><code>b &lt; c\n  d\n</code></pre>\n<p>e</p>\n"},
		{"::\n\n  b\n", "<pre><code>b\n</code></pre>\n"},
		{"a ::\n\n> b\n> c\n\nd", "<p>a</p>\n<pre><code>&gt; b\n&gt; c\n</code></pre>\n<p>d</p>\n"},
		{">>> 1\n1\n\na\n", "<pre><code>&gt;&gt;&gt; 1\n1\n</code></pre>\n<p>a</p>\n"},
		{"| a\n| b\n  c\n", "<p>a<br>\nb\nc</p>\n"},
	};
	check_cases(of, ARRAY_SIZE(of));
}

static void writes_lists(void **state UNUSED)
{
	static const struct rst_case of[] = {
		{"* a\n* b\n  c\n\n  d\n", "<ul>\n<li>a</li>\n<li><p>b\nc</p>\n<p>d</p>\n</li>\n</ul>\n"},
		{"- a\n\n  - b\n\n- c\n", "<ul>\n<li><p>a</p>\n<ul>\n<li>b</li>\n</ul>\n</li>\n<li>c</li>\n</ul>\n"},
		{"3. a\n4. b\n", "<ol start=\"3\">\n<li>a</li>\n<li>b</li>\n</ol>\n"},
		{"#. a\n#. b\n", "<ol>\n<li>a</li>\n<li>b</li>\n</ol>\n"},
		{"(a) b\n\ni) c\n", "<ol>\n<li>b</li>\n<li>c</li>\n</ol>\n"},
		{"1. a sentence\nof two lines\n", "<p>1. a sentence\nof two lines</p>\n"},
		{"a\n  b\nc : d\n  e\n", "<dl>\n<dt>a</dt>\n<dd>b</dd>\n<dt>c : d</dt>\n<dd>e</dd>\n</dl>\n"},
		{":A: b\n:C d: e\n  f\n", "<dl>\n<dt>A</dt>\n<dd>b</dd>\n<dt>C d</dt>\n<dd>e\nf</dd>\n</dl>\n"},
		{"-a  b\n--c=D\n    e\n",
			"<dl>\n<dt><code>-a</code></dt>\n<dd>b</dd>\n<dt><code>--c=D</code></dt>\n<dd>e</dd>\n</dl>\n"},
	};
	check_cases(of, ARRAY_SIZE(of));
}

static void writes_text(void **state UNUSED)
{
	static const struct rst_case of[] = {
		{"*a* **b** ``c < \\d`` `e` 2*3*4 f* \\*g\\* 'h*'",
			"<p><em>a</em> <strong>b</strong> <code>c &lt; \\d</code> <em>e</em> 2*3*4 f* *g* 'h*'</p>\n"},
		{":ref:`a <b>` :py:class:`c` `d`:code: :pep:`440` :sub:`e`",
			"<p>a <code>c</code> <code>d</code> PEP 440 e</p>\n"},
		{"`a b <https://c/d>`_ `e <http://f>`__",
			"<p><a href=\"https://c/d\"" REL ">a b</a> <a href=\"http://f\"" REL ">e</a></p>\n"},
		{"a_ `b  C`_, d__ and none_\n\n.. _a: https://e\n.. _B c: a_\n__ https://f\n",
			"<p><a href=\"https://e\"" REL ">a</a> <a href=\"https://e\"" REL
			">b  C</a>, <a href=\"https://f\"" REL ">d</a> and none_</p>\n"},
		{"https://a/b_c. (see http://d)",
			"<p><a href=\"https://a/b_c\"" REL ">https://a/b_c</a>. (see <a href=\"http://d\"" REL
			">http://d</a>)</p>\n"},
		{"a [1]_ _`b`\n\n.. [1] c *d*\n", "<p>a [1] b</p>\n<dl>\n<dt>[1]</dt>\n<dd>c <em>d</em></dd>\n</dl>\n"},
		{"|a| |b| |c|\n\n.. |a| replace:: x *y*\n.. |b| image:: https://d/e.svg\n   :target: https://f\n",
			"<p>x *y* <a href=\"https://f\"" REL ">b</a> |c|</p>\n"},
		{"a ``b\n\nc", "<p>a ``b</p>\n<p>c</p>\n"},
	};
	check_cases(of, ARRAY_SIZE(of));
}

static void writes_directives(void **state UNUSED)
{
	static const struct rst_case of[] = {
		{".. image:: https://a/b.svg\n   :alt: c\n.. image:: https://d/e.svg\n   :target: https://f\n",
			"<p><a href=\"https://a/b.svg\"" REL ">c</a>\n<a href=\"https://f\"" REL ">e.svg</a></p>\n"},
		{".. note:: a\n   b\n\n   c\n",
			"<blockquote>\n<p><strong>Note</strong></p>\n<p>a\nb</p>\n<p>c</p>\n</blockquote>\n"},
		{".. code-block:: python\n   :linenos:\n\n   a <b>\n\nc",
			"<pre><code>a &lt;b&gt;\n</code></pre>\n<p>c</p>\n"},
		{".. raw:: html\n\n   <script>a</script>\n\nb", "<p>b</p>\n"},
		{".. raw:: html\n   :file: /etc/passwd\n\n.. include:: /etc/passwd\n\nb", "<p>b</p>\n"},
		{".. a comment\n   goes on\n\n   here\n\nb", "<p>b</p>\n"},
		{".. strange:: a\n   :b: c\n\n   d\n", "<p>a</p>\n<p>d</p>\n"},
		{".. versionadded:: 2.0\n", "<p><em>New in </em>2.0</p>\n"},
		{"a\n\n..\n\n  b\n", "<p>a</p>\n<blockquote>\n<p>b</p>\n</blockquote>\n"},
	};
	check_cases(of, ARRAY_SIZE(of));
}

static void writes_tables(void **state UNUSED)
{
	static const struct rst_case of[] = {
		{"=== ===\na   b\n=== ===\nc   d e f\n    g\n=== ===\n",
			"<table>\n<thead>\n<tr><th scope=\"col\">a</th><th scope=\"col\">b</th></tr>\n</thead>\n"
			"<tr><td>c</td><td>d e f\ng</td></tr>\n</table>\n"},
		{"== ==\n1  2\n\xc3\xa9  3\n== ==\n\na",
			"<table>\n<tr><td>1</td><td>2</td></tr>\n<tr><td>\xc3\xa9</td><td>3</td></tr>\n</table>\n<p>a</p>\n"},
		{"+---+---+\n| a | b |\n+===+===+\n| c | d |\n|   | e |\n+---+---+\n",
			"<table>\n<thead>\n<tr><th scope=\"col\">a</th><th scope=\"col\">b</th></tr>\n</thead>\n"
			"<tr><td>c</td><td>d\ne</td></tr>\n</table>\n"},
		{"+---+---+\n| a     |\n+---+---+\n", "<pre><code>+---+---+\n| a     |\n+---+---+\n</code></pre>\n"},
		{"=== ===\nabcde\n=== ===\n", "<pre><code>=== ===\nabcde\n=== ===\n</code></pre>\n"},
		{"=== ===\na\n", "<p>=== ===\na</p>\n"},
	};
	check_cases(of, ARRAY_SIZE(of));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(writes_sections_and_paragraphs),
		cmocka_unit_test(writes_lists),
		cmocka_unit_test(writes_text),
		cmocka_unit_test(writes_directives),
		cmocka_unit_test(writes_tables),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
