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

static void test_strings_are_copies(void **state UNUSED)
{
	CLEANUP(arena_release) struct arena a = {0};
	char source[] = "abc";
	char *copy = arena_strdup(&a, source), *part = arena_copy(&a, str_slice(str_from(source), 1, 2));
	char *made = arena_printf(&a, "%s-%d", source, 7), *none = arena_copy(&a, (struct str){NULL, 0});
	memset(source, 'x', 3);
	assert_string_equal(copy, "abc");
	assert_string_equal(part, "b");
	assert_string_equal(made, "abc-7");
	assert_string_equal(none, "");
	assert_null(arena_strdup(&a, NULL));
}

static void test_a_printed_string_may_be_larger_than_a_block(void **state UNUSED)
{
	CLEANUP(arena_release) struct arena a = {0};
	assert_int_equal(strlen(arena_printf(&a, "%0100000d", 1)), 100000);
}

static void test_new_elements_are_zero_and_aligned(void **state UNUSED)
{
	CLEANUP(arena_release) struct arena a = {0};
	for (size_t n = 0; n < 100; n++) {
		arena_copy(&a, STR("x"));
		uint64_t *number = ARENA_NEW(&a, uint64_t, n);
		assert_int_equal((uintptr_t)number % _Alignof(uint64_t), 0);
		for (size_t i = 0; i < n; i++)
			assert_int_equal(number[i], 0);
		memset(number, 0xff, n * sizeof(*number));
	}
}

static void test_bytes_are_copied_and_aligned(void **state UNUSED)
{
	CLEANUP(arena_release) struct arena a = {0};
	uint64_t number[] = {3, 4};
	arena_copy(&a, STR("xy"));
	uint64_t *copy = arena_memdup(&a, number, sizeof(number));
	assert_int_equal((uintptr_t)copy % _Alignof(uint64_t), 0);
	assert_memory_equal(copy, number, sizeof(number));
	assert_non_null(arena_memdup(&a, NULL, 0));
}

static void test_an_array_grows(void **state UNUSED)
{
	CLEANUP(arena_release) struct arena a = {0};
	size_t *item = NULL, count = 0, room = 0;
	for (size_t i = 0; i < 10000; i++) {
		ARENA_GROW(&a, item, count, room);
		assert_int_equal(item[count], 0);
		item[count++] = i;
	}
	for (size_t i = 0; i < count; i++)
		assert_int_equal(item[i], i);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_an_arena_aligns_what_is_asked_for),
		cmocka_unit_test(test_strings_are_copies),
		cmocka_unit_test(test_a_printed_string_may_be_larger_than_a_block),
		cmocka_unit_test(test_new_elements_are_zero_and_aligned),
		cmocka_unit_test(test_bytes_are_copied_and_aligned),
		cmocka_unit_test(test_an_array_grows),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
