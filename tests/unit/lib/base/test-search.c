// SPDX-License-Identifier: Apache-2.0
#include "lib/base/search.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

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

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_lower_bound_finds_the_first_of_equals)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
