// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "auditor/compare/wheel-compare.h"

#include "lib/base/limits.h"

static struct provenance_row one[] = {
	{PROVENANCE_BUILDER, "builder", "1", "https://b", NULL, NULL, NULL, NULL, NULL},
	{PROVENANCE_DEPENDENCY, "efa", "1.21", NULL, NULL, "/opt", NULL, NULL, NULL},
	{PROVENANCE_DEPENDENCY, "ucx", "1.18", "git+x", NULL, "/usr/local", "source", "--mt", NULL},
	{PROVENANCE_TOOL, "gcc", "14", NULL, NULL, NULL, NULL, NULL, NULL},
	{PROVENANCE_PARAMETER, "gcc", "yes", NULL, NULL, NULL, NULL, NULL, NULL},
};
static struct provenance_row other[] = {
	{PROVENANCE_BUILDER, "builder", "1", "https://b", NULL, NULL, NULL, NULL, NULL},
	{PROVENANCE_DEPENDENCY, "gusli", "2", NULL, NULL, NULL, NULL, NULL, NULL},
	{PROVENANCE_DEPENDENCY, "ucx", "1.18", "git+x", NULL, "/usr", "source", "--mt", NULL},
	{PROVENANCE_TOOL, "gcc", "12", NULL, NULL, NULL, NULL, NULL, NULL},
	{PROVENANCE_PARAMETER, "gcc", "yes", NULL, NULL, NULL, NULL, NULL, NULL},
};

static void components_are_paired_by_kind_and_name(void **state)
{
	(void)state;
	static const char *const names[] = {"efa", "gusli", "ucx", "gcc", "builder", "gcc"};
	const struct provenance a = {.row = one, .rows = 5}, b = {.row = other, .rows = 5};
	CLEANUP(arena_release) struct arena text = {0};
	struct provenance_diff d;
	provenance_diff_make(&a, &b, &text, &d);
	assert_int_equal(d.listed, 6);
	assert_int_equal(d.equal, 2);
	for (size_t i = 0; i < 6; i++)
		assert_string_equal((d.row[i].a ? d.row[i].a : d.row[i].b)->component, names[i]);
	assert_null(d.row[0].b);
	assert_null(d.row[1].a);
	assert_true(d.row[2].has_other_path);
	assert_false(d.row[3].has_other_path);
	assert_string_equal(provenance_column(d.row[3].b, COLUMN_VERSION), "12");
	assert_null(provenance_column(d.row[0].b, COLUMN_PATH));
}

static void a_wheel_without_provenance_used_nothing(void **state)
{
	(void)state;
	const struct provenance a = {.row = one, .rows = 5};
	CLEANUP(arena_release) struct arena text = {0};
	struct provenance_diff d;
	provenance_diff_make(&a, NULL, &text, &d);
	assert_int_equal(d.different, 5);
	provenance_diff_make(NULL, NULL, &text, &d);
	assert_int_equal(d.listed, 0);
}

static void rows_are_bounded(void **state)
{
	(void)state;
	enum { COUNT = LIMIT_COMPARE_ROWS + 3 };
	struct provenance_row *row = xcalloc(COUNT, sizeof(*row));
	for (int i = 0; i < COUNT; i++)
		row[i].component = "same";
	const struct provenance a = {.row = row, .rows = COUNT};
	CLEANUP(arena_release) struct arena text = {0};
	struct provenance_diff d;
	provenance_diff_make(&a, NULL, &text, &d);
	assert_int_equal(d.different, COUNT);
	assert_int_equal(d.listed, LIMIT_COMPARE_ROWS);
	free(row);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(components_are_paired_by_kind_and_name),
		cmocka_unit_test(a_wheel_without_provenance_used_nothing),
		cmocka_unit_test(rows_are_bounded),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
