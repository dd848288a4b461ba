// SPDX-License-Identifier: Apache-2.0
#include "lib/domain/index/project-names.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define JSON STR("application/vnd.pypi.simple.v1+json")
#define HTML STR("text/html; charset=utf-8")

struct project_list_case {
	const char *body, *wanted;
};

static void check_lists(const struct project_list_case *list, size_t count, struct str type)
{
	for (size_t i = 0; i < count; i++) {
		struct err e = ERR_INIT;
		CLEANUP(buf_release) struct buf names;
		buf_init(&names, 4096);
		if (project_names_read(str_from(list[i].body), type, &names, &e) < 0)
			fail_msg("%s: %s", list[i].body, e.msg);
		if (strcmp(names.data, list[i].wanted) != 0)
			fail_msg("%s: %s, not %s", list[i].body, names.data, list[i].wanted);
	}
}

static void test_json(void **state UNUSED)
{
	static const struct project_list_case lists[] = {
		{"{\"meta\":{\"api-version\":\"1.4\"},\"projects\":[{\"_last-serial\":1,\"name\":\"a\"},"
		 "{\"name\":\"B\"}]}",
			"a\nb\n"},
		{"{\"projects\":[]}", ""},
		{"{\n\t\"projects\" : [\r\n {\"name\"\n:\n\"a\"\n} ]\n}\n", "a\n"},
		{"{\"projects\":[{\"n\\u0061me\":\"\\u0061\\u002db\"}]}", "a-b\n"},
		{"{\"pro\\u006Aects\":[{\"name\":\"a\"}]}", "a\n"},
		{"{\"meta\":{\"name\":\"no\",\"projects\":[{\"name\":\"no\"}]},\"projects\":[{\"name\":\"a\"}],"
		 "\"name\":\"no\"}",
			"a\n"},
		{"{\"projects\":[{\"more\":{\"name\":\"no\"},\"name\":\"a\",\"tags\":[{\"name\":\"no\"}]}]}", "a\n"},
		{"{\"projects\":[{\"about\":\"\\\"name\\\":\\\"no\\\"\",\"name\":\"a\"}]}", "a\n"},
		{"{\"projects\":[{\"name\":\"a\\\"b\"},{\"name\":\"c\"}]}", "c\n"},
		{"{\"projects\":[{\"name\":null},{\"name\":1},{\"name\":[\"no\"]},{},\"name\",null,[{\"name\":\"no\"}],"
		 "{\"name\":\"a\"}]}",
			"a\n"},
		{"{\"projects\":[{\"name\":\"-no-\"},{\"name\":\"\"},{\"name\":\"a b\"},"
		 "{\"name\":\"Zope.Interface\"}]}",
			"zope-interface\n"},
		{"{\"projects\":[{\"name\":\"a\\u0000b\"},{\"name\":\"\xc3\xa9\"},{\"name\":\"c\"}]}", "c\n"},
	};
	check_lists(lists, ARRAY_SIZE(lists), JSON);
	check_lists(lists, 1, STR("Application/vnd.PyPI.simple.v1+JSON ; charset=utf-8"));
}

static void test_html(void **state UNUSED)
{
	static const struct project_list_case lists[] = {
		{"<!DOCTYPE html><html><body>\n<a href=\"/simple/a/\">a</a><br/>\n<a href=\"b/\">B</a>\n</body></html>",
			"a\nb\n"},
		{"<html></html>", ""},
		{"<A HREF='a/' >\n a \n</A\n>", "a\n"},
		{"<a class=x data-x='>no</a>' href=a>a</a>", "a\n"},
		{"<a href=\"a\"><b>Zope</b>.<i>Event</i></a>", "zope-event\n"},
		{"<a href=\"a\">a&#45;b</a><a href=\"c\">&#x63;</a>", "a-b\nc\n"},
		{"<!-- <a href=\"no\">no</a> --><a href=\"a\">a<!-- no --></a>", "a\n"},
		{"<script>\"<a>no</a>\"</script><style>a{}</style><a href=\"a\">a</a>", "a\n"},
		{"<title>no</title><h1>no</h1><p>no<a href=\"a\">a</a>no</p>", "a\n"},
		{"<a href=\"../\">../</a><a href=\"x\">two words</a><a href=\"a\">a</a>", "a\n"},
		{"<p>no</a><a href=\"a\">a</a></a>", "a\n"},
	};
	check_lists(lists, ARRAY_SIZE(lists), HTML);
	check_lists(lists, 1, STR("application/vnd.pypi.simple.v1+html"));
}

static void test_invalid_lists(void **state UNUSED)
{
	static const char *const bad[] = {"", "{}", "[]", "{\"projects\":{}}", "{\"projects\":null}",
		"{\"meta\":{\"projects\":[]}}", "{\"projects\":[{\"name\":\"a\"},{\"name\":\"b\"}",
		"{\"projects\":[{\"name\":\"a\"}]} more", "<a href=\"a\">a</a>"};
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct err e = ERR_INIT;
		CLEANUP(buf_release) struct buf names;
		buf_init(&names, 4096);
		if (project_names_read(str_from(bad[i]), JSON, &names, &e) == 0)
			fail_msg("%s is taken", bad[i]);
		assert_int_equal(e.kind, ERR_INVALID);
	}
}

static void test_long_texts(void **state UNUSED)
{
	struct err e = ERR_INIT;
	CLEANUP(buf_release) struct buf body, names;
	buf_init(&body, 1 << 20);
	buf_init(&names, 1 << 20);
	buf_puts(&body, "<a>");
	for (int i = 0; i < 100000; i++)
		buf_putc(&body, 'a');
	buf_puts(&body, "</a><a>b</a>");
	assert_int_equal(project_names_read(buf_view(&body), HTML, &names, &e), 0);
	assert_string_equal(names.data, "b\n");
}

static void test_ceiling(void **state UNUSED)
{
	struct err e = ERR_INIT;
	CLEANUP(buf_release) struct buf names;
	buf_init(&names, 5);
	assert_int_equal(project_names_read(STR("<a>aa</a><a>bb</a>"), HTML, &names, &e), 0);
	assert_true(names.failed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_json),
		cmocka_unit_test(test_html),
		cmocka_unit_test(test_invalid_lists),
		cmocka_unit_test(test_long_texts),
		cmocka_unit_test(test_ceiling),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
