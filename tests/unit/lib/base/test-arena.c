// SPDX-License-Identifier: Apache-2.0
#include "lib/base/arena.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void test_an_arena_aligns_what_is_asked_for(void **state UNUSED)
{
	CLEANUP(arena_release) struct arena a = {0};
	for (size_t i = 1; i < 40; i++) {
		arena_copy(&a, str_slice(STR("abcdefghijk"), 0, i % 11));
		uint64_t *number = arena_alloc_aligned(&a, i * sizeof(*number));
		assert_int_equal((uintptr_t)number % _Alignof(uint64_t), 0);
		memset(number, 0xff, i * sizeof(*number));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_an_arena_aligns_what_is_asked_for)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
