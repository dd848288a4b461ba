// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "lib/base/mem.h"
#include "lib/domain/text/library-version.h"

// In order; versions in one line are equal.
static const char *const ordered[] = {
	"0.9.8",
	"1.0.2~rc1",
	"1.0.2rc1 1.0.2-rc1 1.0.2_rc1",
	"1.0.2 1.0.2.0 01.0.02 1.0.2+build7",
	"1.0.2y",
	"1.0.2z",
	"1.0.2za",
	"1.0.2zh",
	"1.1.0-pre1",
	"1.1.0",
	"1.1.1",
	"1.1.1k",
	"1.1.1k-12.el8_9",
	"1.1.1k-14.el8",
	"1.1.1w",
	"3.0.0-alpha1",
	"3.0.0b2",
	"3.0.0-beta1",
	"3 3.0 3.0.0",
	"3.0.2",
	"3.0.15",
	"3.10",
	"8.41",
	"9e",
	"14.2.0",
	"14.2.0-r6",
	"14.2.0-r10",
	"18446744073709551616",
	"99999999999999999999999",
};

static int sign(int order)
{
	return (order > 0) - (order < 0);
}

static void assert_order(struct str a, struct str b, int expected)
{
	if (sign(library_version_compare(a, b)) != expected || sign(library_version_compare(b, a)) != -expected)
		fail_msg(STR_FMT " and " STR_FMT ": not %d", STR_ARG(a), STR_ARG(b), expected);
}

static void versions_are_in_order(void **state UNUSED)
{
	for (size_t i = 0; i < ARRAY_SIZE(ordered); i++)
		for (size_t k = i; k < ARRAY_SIZE(ordered); k++) {
			struct str left = str_from(ordered[i]);
			while (left.ptr) {
				struct str a = str_cut(&left, ' '), right = str_from(ordered[k]);
				while (right.ptr)
					assert_order(a, str_cut(&right, ' '), i < k ? -1 : 0);
			}
		}
}

static void any_text_is_a_version(void **state UNUSED)
{
	static const char *const texts[] = {"", "-", "~~", "+", "...", "\xff\xfe", "latest", "r", "1~", "a1b2c3"};
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		for (size_t k = 0; k < ARRAY_SIZE(texts); k++)
			library_version_compare(str_from(texts[i]), str_from(texts[k]));
	assert_order(STR("latest"), STR("1.0"), -1);
}

static void revision_of_a_distribution_is_left_out(void **state UNUSED)
{
	static const char *const rows[][2] = {{"14.2.0-r6", "14.2.0"}, {"1.1.1k-12.el8_9", "1.1.1k"},
		{"1:2.36+dfsg-9+deb12u4", "2.36+dfsg"}, {"3.0.2", "3.0.2"}, {"-1", "-1"}, {"", ""}};
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		assert_true(str_eq(library_version_upstream(str_from(rows[i][0])), str_from(rows[i][1])));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(versions_are_in_order),
		cmocka_unit_test(any_text_is_a_version),
		cmocka_unit_test(revision_of_a_distribution_is_left_out),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
