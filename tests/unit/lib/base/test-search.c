// SPDX-License-Identifier: Apache-2.0
#include "lib/base/search.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "lib/base/mem.h"

static bool is_less(const void *element, const void *key)
{
	return *(const int *)element < *(const int *)key;
}

static void test_lower_bound_finds_the_first_of_equals(void **state UNUSED)
{
	static const int sorted[] = {1, 3, 3, 3, 7};
	static const struct {
		int key;
		size_t count, first;
	} cases[] = {{0, 5, 0}, {1, 5, 0}, {2, 5, 1}, {3, 5, 1}, {4, 5, 4}, {7, 5, 4}, {8, 5, 5}, {3, 3, 1}, {3, 1, 1},
		{3, 0, 0}};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		size_t first = lower_bound(&cases[i].key, sorted, cases[i].count, sizeof(*sorted), is_less);
		assert_int_equal(first, cases[i].first);
	}
}

static void test_strings_are_sorted_by_bytes(void **state UNUSED)
{
	const char *names[] = {"b", "\xc3\xa4", "a", "B", "ab"}, *const sorted[] = {"B", "a", "ab", "b", "\xc3\xa4"};
	qsort(names, ARRAY_SIZE(names), sizeof(*names), compare_strings);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		assert_string_equal(names[i], sorted[i]);
		assert_int_equal(lower_bound(sorted[i], names, ARRAY_SIZE(names), sizeof(*names), is_string_before), i);
	}
	assert_int_equal(lower_bound("aa", names, ARRAY_SIZE(names), sizeof(*names), is_string_before), 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lower_bound_finds_the_first_of_equals),
		cmocka_unit_test(test_strings_are_sorted_by_bytes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
