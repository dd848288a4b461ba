// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "auditor/compare/library-diff.h"

static const struct {
	const char *name, *plain, *stem;
} table[] = {
	{"libssl.so.3", "libssl.so.3", "libssl"},
	{"libssl-3a1b2c3d.so.3", "libssl.so.3", "libssl"},
	{"libgfortran-040039e1-0352e75f.so.5.0.0", "libgfortran.so.5.0.0", "libgfortran"},
	{"libx-01234567-01234567-01234567-01234567-01234567.so", "libx-01234567.so", "libx"},
	{"readme.txt", "readme.txt", "readme"},
	{"", "", ""},
};

static void hashes_are_no_part_of_a_name(void **state)
{
	(void)state;
	struct arena text = {0};
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		assert_string_equal(plain_library_name(&text, table[i].name), table[i].plain);
		assert_string_equal(plain_library_stem(&text, table[i].name), table[i].stem);
	}
	arena_release(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hashes_are_no_part_of_a_name),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
