// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "lib/base/buf.h"
#include "lib/base/mem.h"
#include "lib/domain/text/rfc822-fields.h"

// Each field as "name=value;", then the body. The expected values are those of email.message_from_string() in Python
// 3.11.
static const struct {
	const char *text, *fields, *body;
} table[] = {
	{"a: 1\n b\nc: 2\n\nbody", "a=1\n b;c=2;", "body"},
	{"a:  \t1 \r\n\t2\r\nb:3\r\n\r\nbody\r\n", "a=1 \r\n\t2;b=3;", "body\r\n"},
	{"a: \n b\n", "a=\n b;", ""},
	{"a:\n  \n b\nq: 1", "a=\n  \n b;q=1;", ""},
	{"a:\rb: 2\r\rz", "a=;b=2;", "z"},
	{"a:1\n\n\nb", "a=1;", "\nb"},
	{"a: x: y\n", "a=x: y;", ""},
	{" x\nb: 2\n", "b=2;", ""},
	{": x\nb: 2\n", "b=2;", ""},
	{"a: 1\nno field\nb: 2\n", "a=1;", "no field\nb: 2\n"},
	{"a b: 1\nc: 2", "", "a b: 1\nc: 2"},
	{"\xef\xbb\xbf"
	 "a: 1\n",
		"",
		"\xef\xbb\xbf"
		"a: 1\n"},
	{"a: x\x0cy\nb: \xc3\xa9\n\n", "a=x\x0cy;b=\xc3\xa9;", ""},
	{"\nbody", "", "body"},
	{"", "", ""},
	{"a:", "a=;", ""},
};

static void test_fields(void **state UNUSED)
{
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		CLEANUP(buf_release) struct buf seen;
		struct str rest = str_from(table[i].text);
		struct rfc822_field field;
		buf_init(&seen, 1000);
		while (rfc822_fields_next(&rest, &field))
			buf_printf(&seen, STR_FMT "=" STR_FMT ";", STR_ARG(field.name), STR_ARG(field.value));
		assert_string_equal(seen.data, table[i].fields);
		if (!str_eq(rest, str_from(table[i].body)))
			fail_msg("row %zu: body \"" STR_FMT "\"", i, STR_ARG(rest));
	}
}

static void test_first(void **state UNUSED)
{
	struct str text = STR("Name: a\nTAG: x\ntag: y\n\nBody: z\n"), value = STR("");
	assert_true(rfc822_fields_first(text, STR("Tag"), &value));
	assert_true(str_eq(value, STR("x")));
	assert_false(rfc822_fields_first(text, STR("Body"), &value));
	assert_false(rfc822_fields_first(text, STR("Nam"), &value));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fields),
		cmocka_unit_test(test_first),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
