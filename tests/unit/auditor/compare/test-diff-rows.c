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

#include "lib/base/limits.h"
#include "lib/base/mem.h"

static void print_rows(const struct diff_rows *r, char *out)
{
	for (size_t i = 0; i < r->count; i++)
		snprintf(out + strlen(out), 128 - strlen(out), "%s:%s%s%s ", r->row[i].name,
			r->row[i].a ? r->row[i].a : "", r->row[i].is_equal ? "=" : "/", r->row[i].b ? r->row[i].b : "");
}

static void add_value(struct diff_values *v, const char *text, const char *pair)
{
	diff_values_add(v, (struct diff_value){"n", text, text, pair});
}

static void sets_are_compared_by_meaning(void **state)
{
	(void)state;
	char out[128] = "";
	CLEANUP(arena_release) struct arena lists = {0};
	struct diff_rows r = {.in = &lists};
	struct diff_values a = {.in = &lists}, b = {.in = &lists};
	add_value(&a, "x1", "x");
	add_value(&a, "y", NULL);
	add_value(&a, "y", NULL);
	add_value(&a, "z", NULL);
	add_value(&b, "z", NULL);
	add_value(&b, "x2", "x");
	add_value(&b, "w", NULL);
	diff_rows_add_sets(&r, &a, &b);
	diff_rows_sort(&r);
	print_rows(&r, out);
	assert_string_equal(out, "n:/w n:x1/x2 n:y/ n:z=z ");
	assert_int_equal(r.equal, 1);
	assert_int_equal(r.different, 3);
}

static void nothing_on_both_sides_is_no_row(void **state)
{
	(void)state;
	CLEANUP(arena_release) struct arena lists = {0};
	struct diff_rows r = {.in = &lists};
	diff_rows_add_text(&r, "n", NULL, NULL);
	assert_int_equal(r.count + r.equal + r.different, 0);
	diff_rows_sort(&r);
}

// Many equal rows hide none that differs.
// Exceeds LIMIT_COMPARE_ROWS.
static void what_is_not_listed_is_counted(void **state)
{
	(void)state;
	CLEANUP(arena_release) struct arena lists = {0};
	struct diff_rows r = {.in = &lists};
	for (int i = 0; i < LIMIT_COMPARE_ROWS + 5; i++)
		diff_rows_add_text(&r, "n", "a", "a");
	for (int i = 0; i < LIMIT_COMPARE_ROWS + 7; i++)
		diff_rows_add_text(&r, "n", "a", "b");
	assert_int_equal(r.equal, LIMIT_COMPARE_ROWS + 5);
	assert_int_equal(r.different, LIMIT_COMPARE_ROWS + 7);
	assert_int_equal(r.listed_equal, LIMIT_COMPARE_ROWS);
	assert_int_equal(r.count, 2 * LIMIT_COMPARE_ROWS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sets_are_compared_by_meaning),
		cmocka_unit_test(nothing_on_both_sides_is_no_row),
		cmocka_unit_test(what_is_not_listed_is_counted),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
