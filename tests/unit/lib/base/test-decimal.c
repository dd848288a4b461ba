// SPDX-License-Identifier: Apache-2.0
#include "lib/base/decimal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lib/base/mem.h"

enum { UNTOUCHED = 77 };

static void test_whole_texts(void **state UNUSED)
{
	static const struct {
		const char *text;
		uint64_t max, want;
		bool is_number;
	} table[] = {
		{"0", UINT64_MAX, 0, true}, {"0", 0, 0, true}, {"1", 0, 0, false}, {"7", 7, 7, true},
		{"8", 7, 0, false}, {"10", 9, 0, false}, {"007", 7, 7, true}, {"65535", UINT16_MAX, 65535, true},
		{"65536", UINT16_MAX, 0, false}, {"655350", UINT16_MAX, 0, false},
		{"18446744073709551615", UINT64_MAX, UINT64_MAX, true}, {"18446744073709551616", UINT64_MAX, 0, false},
		{"99999999999999999999999999", UINT64_MAX, 0, false},
		{"00000000000000000000000005", UINT64_MAX, 5, true}, {"", UINT64_MAX, 0, false},
		{" 1", UINT64_MAX, 0, false}, {"1 ", UINT64_MAX, 0, false}, {"+1", UINT64_MAX, 0, false},
		{"-1", UINT64_MAX, 0, false}, {"1.0", UINT64_MAX, 0, false}, {"0x10", UINT64_MAX, 0, false},
		{"1a", UINT64_MAX, 0, false}, {"\xd9\xa1", UINT64_MAX, 0, false}, // ARABIC-INDIC DIGIT ONE
	};
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		uint64_t number = UNTOUCHED;
		bool is_number = decimal_parse(str_from(table[i].text), table[i].max, &number);
		if (is_number != table[i].is_number || number != (is_number ? table[i].want : UNTOUCHED))
			fail_msg("\"%s\"", table[i].text);
	}
	uint64_t number;
	assert_false(decimal_parse((struct str){NULL, 0}, UINT64_MAX, &number));
	assert_true(decimal_parse(str_slice(STR("1234"), 1, 3), UINT64_MAX, &number) && number == 23);
}

static void test_leading_digits(void **state UNUSED)
{
	static const struct {
		const char *text;
		uint64_t max, want;
		const char *rest;
	} table[] = {
		{"12-34", UINT64_MAX, 12, "-34"},
		{"12", UINT64_MAX, 12, ""},
		{"99999999999999999999-", UINT64_MAX, UINT64_MAX, "-"},
		{"500K", 100, 100, "K"},
		{"100K", 100, 100, "K"},
		{"1000000001", 5, 5, ""},
	};
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		uint64_t number = UNTOUCHED;
		struct str text = str_from(table[i].text);
		if (!decimal_cut(&text, table[i].max, &number) || number != table[i].want ||
			!str_eq(text, str_from(table[i].rest)))
			fail_msg("\"%s\"", table[i].text);
	}
	static const char *const none[] = {"", "-1", " 1", "x"};
	for (size_t i = 0; i < ARRAY_SIZE(none); i++) {
		uint64_t number = UNTOUCHED;
		struct str text = str_from(none[i]);
		assert_false(decimal_cut(&text, UINT64_MAX, &number));
		assert_true(number == 0 && str_eq(text, str_from(none[i])));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whole_texts),
		cmocka_unit_test(test_leading_digits),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
