// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lib/base/charclass.h"
#include "lib/format/escape.h"

#define ALNUM "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

static const struct {
	unsigned set;
	const char *also;                     // graphic ASCII besides letters and digits
	bool has_blank, has_layout, has_more; // " "; "\t" and "\n"; bytes that are not ASCII
} table[] = {
	{CHARCLASS_GRAPHIC, "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~", false, false, false},
	{CHARCLASS_NAME, "!\"#$%&'()*+,-.:;<=>?@[]^_`{|}~", false, false, false},
	{CHARCLASS_URL, "!#$%&'()*+,-./:;=?@[]_~", false, false, false},
	{CHARCLASS_UNRESERVED, "-._~", false, false, false},
	{CHARCLASS_JSON, "!#$%&'()*+,-./:;<=>?@[]^_`{|}~", true, false, true},
	{CHARCLASS_TOKEN, "!#$%&'*+-.^_`|~", false, false, false},
	{CHARCLASS_HTML, "!#$%'()*+,-./:;=?@[\\]^_`{|}~", true, true, true},
};

static void sets(void **state UNUSED)
{
	for (size_t i = 0; i < ARRAY_SIZE(table); i++)
		for (int c = 0; c < 256; c++) {
			char byte = (char)c;
			bool is_in = (c && c < 0x80 && (strchr(ALNUM, c) || strchr(table[i].also, c))) ||
				     (c == ' ' && table[i].has_blank) ||
				     ((c == '\t' || c == '\n') && table[i].has_layout) ||
				     (c >= 0x80 && table[i].has_more);
			if ((charclass_run((struct str){&byte, 1}, table[i].set) == 1) != is_in)
				fail_msg("row %zu: byte %d", i, c);
			if ((charclass_run((struct str){&byte, 1}, table[i].set | CHARCLASS_ASCII) == 1) !=
				(is_in && c < 0x80))
				fail_msg("row %zu: byte %d, ASCII", i, c);
		}
}

static void runs(void **state UNUSED)
{
	char text[20];
	for (size_t len = 0; len <= sizeof(text); len++)
		for (size_t at = 0; at <= len; at++) {
			memset(text, 'a', sizeof(text));
			if (at < len)
				text[at] = '/';
			assert_int_equal(charclass_run((struct str){text, len}, CHARCLASS_NAME), at);
		}
	assert_int_equal(charclass_run((struct str){NULL, 0}, CHARCLASS_NAME), 0);
}

static void escapes(void **state UNUSED)
{
	static const struct {
		void (*escape)(struct buf *out, struct str s);
		const char *text, *escaped;
	} rows[] = {
		{escape_json, "", "\"\""},
		{escape_json, "a b/c", "\"a b/c\""},
		{escape_json, "\"\\\n\x7f", "\"\\\"\\\\\\u000a\\u007f\""},
		{escape_json, "\xc3\xa9\"", "\"\xc3\xa9\\\"\""},
		{escape_json, "a\xff\"b", "\"a\xef\xbf\xbd\\\"b\""},
		{escape_html, "a\xe2\x80\xae\xc2\x9b\xe2\x81\xa6 b\xe2\x82\xac", "a\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd b\xe2\x82\xac"},
		{escape_html, "<a b=\"&\">\t\n", "&lt;a b=&quot;&amp;&quot;&gt;\t\n"},
		{escape_html, "\x01\x7f", "\xef\xbf\xbd\xef\xbf\xbd"},
		{escape_html, "\xc3\xa9<", "\xc3\xa9&lt;"},
		{escape_html, "\xc3<", "\xef\xbf\xbd&lt;"},
		{escape_terminal, "a\xc3\xa9\n\t\x1b[2J\x7f", "a\xc3\xa9???[2J?"},
		{escape_terminal, "\xc2\x80|\xc2\x9f|\xc2\xa0", "?|?|\xc2\xa0"},
		{escape_terminal, "\u061c|\u061b|\u061d", "?|\u061b|\u061d"},
		{escape_terminal, "\u200d\u200e\u200f\u2010", "\u200d??\u2010"},
		{escape_terminal, "\u2027\u2028\u2029\u202a\u202e\u202f", "\u2027????\u202f"},
		{escape_terminal, "\u2065\u2066\u2069\u206a", "\u2065??\u206a"},
		{escape_terminal, "\xe2\x80|\xe2|\xc2", "\xe2\x80|\xe2|\xc2"},
		{escape_terminal_text, "a\n\tb\r\u202e\u2028", "a\n\tb???"},
		{escape_url, "a-1.0+x/\xc3\xa9 ", "a-1.0%2Bx%2F%C3%A9%20"},
		{escape_url, "~_", "~_"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		CLEANUP(buf_release) struct buf out;
		buf_init(&out, 256);
		rows[i].escape(&out, str_from(rows[i].text));
		assert_string_equal(out.data, rows[i].escaped);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sets),
		cmocka_unit_test(runs),
		cmocka_unit_test(escapes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
