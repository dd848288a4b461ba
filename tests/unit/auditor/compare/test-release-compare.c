// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "auditor/compare/release-compare.h"

static const struct release_file first[] = {
	{"p-1.0-cp310-cp310-linux_x86_64.whl", NULL, false},
	{"p-1.0-cp311-cp311-linux_x86_64.whl", NULL, false},
	{"p-1.0-cp39-cp39-linux_x86_64.whl", NULL, false},
};
static const struct release_file second[] = {
	{"p-2.0-py3-none-any.whl", ">=3.11", false},
	{"p-2.0-cp312-cp312-linux_x86_64.whl", NULL, true},
};

static void check_cells(const char *platform, const char *pythons, const char *expected)
{
	struct err e = ERR_INIT;
	char out[256] = "";
	CLEANUP(profile_release) struct profile profile = {0};
	const struct profile_keys keys = {.pythons = pythons};
	const struct release_files files[2] = {{first, 3}, {second, 2}};
	CLEANUP(release_compare_release) struct release_compare r;
	assert_int_equal(profile_init(&profile, platform, &keys, &e), 0);
	release_compare_begin(&r, "a", "b");
	release_compare_platform(&r, platform, &profile, files);
	for (size_t i = 0; i < r.cells; i++)
		snprintf(out + strlen(out), sizeof(out) - strlen(out), "%s %s|", r.cell[i].python,
			release_state_name[r.cell[i].state]);
	assert_string_equal(out, expected);
	assert_int_equal(r.files[0], 3);
}

static void each_python_of_the_platform_is_a_cell(void **state)
{
	(void)state;
	check_cells("debian-12-x86_64", "3.8 3.10 3.11 3.12", "3.10 lost|3.11 kept|3.12 won|");
}

static void tags_count_where_pythons_are_unknown(void **state)
{
	(void)state;
	check_cells("wheels", NULL, "cp310 lost|cp311 lost|cp312 won|cp39 lost|py3 won|");
}

static void platform_tags_count_without_a_platform(void **state)
{
	(void)state;
	static const struct release_file one[] = {{"p-1-cp310.cp311-none-manylinux1_x86_64.win32.whl", NULL, false}};
	static const struct release_file other[] = {{"p-2-cp311-none-win32.whl", NULL, false}};
	static const char *const cells[][2] = {
		{"manylinux1_x86_64", "cp310"}, {"manylinux1_x86_64", "cp311"}, {"win32", "cp310"}, {"win32", "cp311"}};
	const struct release_files files[2] = {{one, 1}, {other, 1}};
	CLEANUP(release_compare_release) struct release_compare r;
	release_compare_begin(&r, "a", "b");
	release_compare_platform(&r, NULL, NULL, files);
	assert_int_equal(r.cells, 4);
	assert_int_equal(r.count[RELEASE_LOST], 3);
	for (size_t i = 0; i < 4; i++) {
		assert_string_equal(r.cell[i].platform, cells[i][0]);
		assert_string_equal(r.cell[i].python, cells[i][1]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_python_of_the_platform_is_a_cell),
		cmocka_unit_test(tags_count_where_pythons_are_unknown),
		cmocka_unit_test(platform_tags_count_without_a_platform),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
