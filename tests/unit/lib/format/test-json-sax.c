// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "lib/base/buf.h"
#include "lib/format/json-sax.h"

static const char *const kinds[] = {
	[JSON_SAX_STRING] = "string",
	[JSON_SAX_NUMBER] = "number",
	[JSON_SAX_TRUE] = "true",
	[JSON_SAX_FALSE] = "false",
	[JSON_SAX_NULL] = "null",
	[JSON_SAX_OBJECT] = "{",
	[JSON_SAX_ARRAY] = "[",
	[JSON_SAX_OBJECT_END] = "}",
	[JSON_SAX_ARRAY_END] = "]",
};

static void write_down(void *ctx, const struct json_sax_value *v)
{
	struct buf *seen = ctx;
	for (size_t i = 0; i < v->depth; i++)
		buf_printf(seen, "/" STR_FMT, STR_ARG(v->key[i].ptr ? v->key[i] : STR("*")));
	buf_printf(seen, " %s", kinds[v->kind]);
	if (v->kind <= JSON_SAX_NUMBER)
		buf_printf(seen, " " STR_FMT, STR_ARG(v->text));
	buf_putc(seen, '\n');
}

static int walk(struct str text, struct buf *seen, bool *is_cut, struct err *e)
{
	CLEANUP(arena_release) struct arena room = {0};
	return json_sax_read(text, &room, write_down, seen, is_cut, e);
}

static void tells_each_value_with_its_keys(void **state UNUSED)
{
	static const char text[] = "{\"a\": {\"b\\u00e9\": [1.50, -2e3, true]}, \"c\": [[], {}, null], \"\": \"x\\ny\","
				   " \"f\":false} ";
	static const char wanted[] = " {\n"
				     "/a {\n"
				     "/a/b\xc3\xa9 [\n"
				     "/a/b\xc3\xa9/* number 1.50\n"
				     "/a/b\xc3\xa9/* number -2e3\n"
				     "/a/b\xc3\xa9/* true\n"
				     "/a/b\xc3\xa9 ]\n"
				     "/a }\n"
				     "/c [\n"
				     "/c/* [\n"
				     "/c/* ]\n"
				     "/c/* {\n"
				     "/c/* }\n"
				     "/c/* null\n"
				     "/c ]\n"
				     "/ string x\ny\n"
				     "/f false\n"
				     " }\n";
	struct err e = ERR_INIT;
	bool is_cut;
	CLEANUP(buf_release) struct buf seen;
	buf_init(&seen, 4096);
	assert_int_equal(walk(str_from(text), &seen, &is_cut, &e), 0);
	assert_string_equal(seen.data, wanted);
	for (size_t len = 0; len < sizeof(text) - 2; len++) {
		buf_clear(&seen);
		assert_int_equal(walk(str_slice(str_from(text), 0, len), &seen, &is_cut, &e), -1);
		assert_int_equal(e.kind, ERR_INVALID);
		assert_true(is_cut);
		for (int lines = 0; seen.len && lines < 2;
			lines += seen.data[seen.len] == '\n') // the last may be cut, too
			seen.len--;
		assert_true(!seen.len || memcmp(seen.data, wanted, seen.len) == 0);
	}
}

static void collect(void *ctx, const struct json_sax_value *v)
{
	struct str **next = ctx;
	if (v->kind == JSON_SAX_STRING)
		*(*next)++ = v->text;
}

static void texts_last(void **state UNUSED)
{
	struct err e = ERR_INIT;
	bool is_cut;
	struct str text[3], *next = text;
	CLEANUP(arena_release) struct arena room = {0};
	assert_int_equal(json_sax_read(STR("[\"\\u0041\",\"plain\",\"\\u0000b\"]"), &room, collect, &next, &is_cut, &e),
		0);
	assert_true(str_eq(text[0], STR("A")));
	assert_true(str_eq(text[1], STR("plain")));
	assert_true(str_eq(text[2], STR("\0b")));
}

static void escapes_become_utf8(void **state UNUSED)
{
	static const struct {
		const char *json, *wanted;
	} cases[] = {
		{"\\\"\\\\\\/\\b\\f\\n\\r\\t", "\"\\/\b\f\n\r\t"},
		{"\\u007f\\u0080\\u07FF\\u0800\\uffff", "\x7f\xc2\x80\xdf\xbf\xe0\xa0\x80\xef\xbf\xbf"},
		{"\\ud83D\\uDe00", "\xf0\x9f\x98\x80"},
		{"\\uDBFF\\uDFFF", "\xf4\x8f\xbf\xbf"},
		{"\\uD800", "\xef\xbf\xbd"},
		{"\\uD800\\\\u", "\xef\xbf\xbd\\u"},
		{"\\uDC00\\uD800", "\xef\xbf\xbd\xef\xbf\xbd"},
		{"\\uD800\\uD83D\\uDE00", "\xef\xbf\xbd\xf0\x9f\x98\x80"},
		{"\\uD800\\u0041", "\xef\xbf\xbd"
				   "A"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct err e = ERR_INIT;
		bool is_cut;
		struct str text, *next = &text;
		CLEANUP(arena_release) struct arena room = {0};
		CLEANUP(mem_free) char *json = xasprintf("\"%s\"", cases[i].json);
		assert_int_equal(json_sax_read(str_from(json), &room, collect, &next, &is_cut, &e), 0);
		assert_true(str_eq(text, str_from(cases[i].wanted)));
	}
}

static void what_is_no_json_is_refused(void **state UNUSED)
{
	static const char *const bad[] = {"nonsense", "{\"a\":1,}", "[1] [2]", "[1] \"", "{}\n\n\"a", "{'a':1}",
		"[\"\xff\"]", "[01]", "// no\n[]", "{1:2}", "]", "[\"\xc3\"]", "[\"\xed\xa0\x80\"]", "[\"\xc0\xaf\"]",
		"\xef\xbb\xbf[]", "[\"a\tb\"]", "[\"long enough\n\"]", "[\"\\x41\"]", "[\"\\u00g0\"]", "[\"\\U0041\"]",
		"[1.]", "[.5]", "[+1]", "[-]", "[1e]", "[1e+]", "[-01]", "[0x1]", "[NaN]", "[truE]", "[nulll]", "[1,]",
		"[,1]", "[1 2]", "[1:2]", "{\"a\" 1}", "{\"a\",1}", "{\"a\":1 \"b\":2}", "{\"a\":1:2}", "{,}",
		"{\"a\"}", "[}", "{]", "[{]}", "[1}", "{\"a\":1]", ":", ",", "\"a\"\"b\"", "1 2", "[\f1]"};
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct err e = ERR_INIT;
		bool is_cut = true;
		CLEANUP(buf_release) struct buf seen;
		buf_init(&seen, 4096);
		if (walk(str_from(bad[i]), &seen, &is_cut, &e) == 0 || is_cut)
			fail_msg("%s: %s", bad[i], is_cut ? "is cut" : "is good");
		assert_int_equal(e.kind, ERR_INVALID);
		assert_ptr_equal(strstr(e.msg, "not JSON: at byte "), e.msg);
		assert_null(strchr(e.msg, '\n'));
	}
}

// What is too deep is read over, whatever it is.
static void depth_takes_nothing(void **state UNUSED)
{
	enum { MANY = 100000 };
	struct err e = ERR_INIT;
	bool is_cut;
	CLEANUP(buf_release) struct buf text, seen;
	buf_init(&text, 1 << 20);
	buf_init(&seen, 1 << 20);
	for (int i = 0; i < MANY; i++)
		buf_puts(&text, i % 2 ? "{\"k\":" : "[");
	buf_puts(&text, "1");
	for (int i = MANY; i-- > 0;)
		buf_putc(&text, i % 2 ? '}' : ']');
	assert_int_equal(walk(buf_view(&text), &seen, &is_cut, &e), 0);
	assert_non_null(strstr(seen.data, "/*/k/*/k/*/k/*/k [\n"));
	assert_null(strstr(seen.data, "/*/k/*/k/*/k/*/k/*"));
	buf_clear(&seen);
	assert_int_equal(walk(str_slice(buf_view(&text), 0, text.len - 1), &seen, &is_cut, &e), -1);
	assert_true(is_cut);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tells_each_value_with_its_keys),
		cmocka_unit_test(texts_last),
		cmocka_unit_test(escapes_become_utf8),
		cmocka_unit_test(what_is_no_json_is_refused),
		cmocka_unit_test(depth_takes_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
