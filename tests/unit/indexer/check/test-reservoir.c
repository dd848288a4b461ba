// SPDX-License-Identifier: Apache-2.0
#include "indexer/check/reservoir.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "lib/base/mem.h"

enum { OFFERED = 100 };

// The ids 0, 10, 20, …, each of its own size.
static struct reservoir *make(size_t most, uint64_t seed)
{
	struct reservoir *s = reservoir_new(most, seed);
	for (int64_t i = 0; i < OFFERED; i++)
		reservoir_add(s, 10 * i, (uint64_t)i);
	reservoir_end(s);
	return s;
}

static size_t count(const struct reservoir *s)
{
	size_t n = 0;
	for (int64_t i = 0; i < OFFERED; i++)
		n += reservoir_has(s, 10 * i);
	return n;
}

static void the_wanted_number_is_chosen(void **state UNUSED)
{
	static const size_t most[] = {0, 1, 7, OFFERED - 1, OFFERED, 1000};
	for (size_t i = 0; i < ARRAY_SIZE(most); i++) {
		CLEANUP(reservoir_cleanup) struct reservoir *s = make(most[i], 3);
		assert_int_equal(count(s), most[i] < OFFERED ? most[i] : OFFERED);
		assert_false(reservoir_has(s, 5));
		if (most[i] >= OFFERED)
			assert_int_equal(reservoir_bytes(s), OFFERED * (OFFERED - 1) / 2);
	}
}

static void seed_decides(void **state UNUSED)
{
	CLEANUP(reservoir_cleanup)
	struct reservoir *one = make(50, 1), *same = make(50, 1), *other = make(50, 2);
	size_t differing = 0;
	for (int64_t i = 0; i < OFFERED; i++) {
		assert_int_equal(reservoir_has(one, 10 * i), reservoir_has(same, 10 * i));
		differing += reservoir_has(one, 10 * i) != reservoir_has(other, 10 * i);
	}
	assert_true(differing > 0);
}

// 10 of 100, 1,000 times: each about 100 times, with a deviation of 9.5.
static void each_is_as_likely(void **state UNUSED)
{
	size_t chosen[OFFERED] = {0};
	for (uint64_t seed = 1; seed <= 1000; seed++) {
		CLEANUP(reservoir_cleanup) struct reservoir *s = make(10, seed);
		for (int64_t i = 0; i < OFFERED; i++)
			chosen[i] += reservoir_has(s, 10 * i);
	}
	for (size_t i = 0; i < OFFERED; i++)
		assert_in_range(chosen[i], 55, 145);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_wanted_number_is_chosen),
		cmocka_unit_test(seed_decides),
		cmocka_unit_test(each_is_as_likely),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
