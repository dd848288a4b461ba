// SPDX-License-Identifier: Apache-2.0
#include "server/core/missing-counts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lib/base/mem.h"

static void test_last_count_of_each_platform(void **state UNUSED)
{
	struct missing_counts *m = missing_counts_new();
	uint64_t count = 0;
	int64_t when = 0;
	assert_false(missing_counts_get(m, "a", &count, &when));
	missing_counts_set(m, "a", 3, 10);
	missing_counts_set(m, "b", 4, 20);
	missing_counts_set(m, "a", 0, 30);
	assert_true(missing_counts_get(m, "a", &count, &when));
	assert_int_equal(count, 0);
	assert_int_equal(when, 30);
	assert_true(missing_counts_get(m, "b", &count, &when));
	assert_int_equal(count, 4);
	missing_counts_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_last_count_of_each_platform),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
