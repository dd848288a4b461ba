// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "auditor/compare/diff-rows.h"

#include "lib/base/mem.h"

static void note_pair(void *ctx, size_t a, size_t b)
{
	char *out = ctx;
	snprintf(out + strlen(out), 64 - strlen(out), "%zu-%zu ", a, b);
}

static void fill(struct pairing_list *l, const char *const *key, size_t count)
{
	for (size_t i = 0; i < count; i++)
		pairing_add(l, key[i], i);
}

static void equal_keys_are_paired_once_and_in_order(void **state)
{
	(void)state;
	char pairs[64] = "";
	const char *const left[] = {"c", "a", NULL, "a", "x"}, *const right[] = {"a", "b", "c", "a", "a", NULL};
	CLEANUP(arena_release) struct arena lists = {0};
	struct pairing_list a = {.in = &lists}, b = {.in = &lists};
	fill(&a, left, 5);
	fill(&b, right, 6);
	pairing_take(&a, &b, note_pair, pairs);
	assert_string_equal(pairs, "1-0 3-3 0-2 ");
	assert_int_equal(a.count, 2);
	assert_string_equal(a.item[0].key, "x");
	assert_null(a.item[1].key);
	assert_int_equal(b.count, 3);
	assert_int_equal(b.item[0].at, 4);
	assert_int_equal(b.item[1].at, 1);
	assert_null(b.item[2].key);
}

static void one_item_of_each_key_stays(void **state)
{
	(void)state;
	const char *const keys[] = {"b", "a", "b", "a", "b"};
	CLEANUP(arena_release) struct arena lists = {0};
	struct pairing_list l = {.in = &lists};
	fill(&l, keys, 5);
	pairing_unique(&l);
	assert_int_equal(l.count, 2);
	assert_int_equal(l.item[0].at, 1);
	assert_int_equal(l.item[1].at, 0);
}

static void empty_lists_have_no_pairs(void **state)
{
	(void)state;
	char pairs[64] = "";
	CLEANUP(arena_release) struct arena lists = {0};
	struct pairing_list a = {.in = &lists}, b = {.in = &lists};
	pairing_unique(&a);
	pairing_take(&a, &b, note_pair, pairs);
	pairing_add(&b, "x", 0);
	pairing_take(&a, &b, note_pair, pairs);
	assert_string_equal(pairs, "");
	assert_int_equal(b.count, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_keys_are_paired_once_and_in_order),
		cmocka_unit_test(one_item_of_each_key_stays),
		cmocka_unit_test(empty_lists_have_no_pairs),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
