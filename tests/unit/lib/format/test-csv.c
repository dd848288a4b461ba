// SPDX-License-Identifier: Apache-2.0
#include "lib/format/csv.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lib/base/mem.h"

static void test_fields(void **state UNUSED)
{
	static const struct {
		const char *text, *want;
	} table[] = {
		{"", ""},
		{"numpy", "numpy"},
		{"a b", "a b"},
		{" a", "\" a\""},
		{"a,b", "\"a,b\""},
		{"say \"a\"", "\"say \"\"a\"\"\""},
		{"two\nlines", "\"two\nlines\""},
		{"=1+1", "'=1+1"},
		{"+1", "'+1"},
		{"-1", "'-1"},
		{"@SUM(A1)", "'@SUM(A1)"},
		{"  =1", "\"'  =1\""},
		{"\t=1", "\"'\t=1\""},
		{"=cmd|' /C calc'!A0,1", "\"'=cmd|' /C calc'!A0,1\""},
		{"1!2.0+local", "1!2.0+local"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		CLEANUP(buf_release) struct buf out;
		buf_init(&out, 1000);
		csv_field(&out, str_from(table[i].text));
		assert_string_equal(out.len ? out.data : "", table[i].want);
	}
}

static void test_row(void **state UNUSED)
{
	CLEANUP(buf_release) struct buf out;
	buf_init(&out, 1000);
	csv_field(&out, STR("a"));
	csv_next(&out);
	csv_field(&out, STR(""));
	csv_end_row(&out);
	assert_string_equal(out.data, "a,\r\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fields),
		cmocka_unit_test(test_row),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
