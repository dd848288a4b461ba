// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lib/base/mem.h"
#include "lib/domain/text/specifier.h"

static void test_valid(void **state UNUSED)
{
	static const char *const table[] = {
		"",
		" , ,",
		">=3.6, !=3.0.*, <4",
		"!=3.0.*,!=3.1.*,>=2.5",
		"  >= 3.8\t,\n< 4 ",
		"==1.*",
		"== v1!1.*",
		"==1.0+local",
		"!=1.0+local",
		"===anything,>=1",
		"===",
		"=== 1.0+x",
		"~=2.2",
		"~=1!2.2rc1",
		"~= V2.2.post1",
		"<=1.0.dev1",
		">1.0-1",
		">=3.8\xe3\x80\x80",
	};
	for (size_t i = 0; i < ARRAY_SIZE(table); i++)
		if (!specifier_set_is_valid(str_from(table[i])))
			fail_msg("\"%s\"", table[i]);
}

static void test_invalid(void **state UNUSED)
{
	static const char *const table[] = {
		"3.6",
		"===anything, goes",
		"=3.6",
		">=",
		">= x",
		"> =3",
		"=>3",
		">=3.6.*",
		">=3.6;<4",
		">=3.6 <4",
		">=1.0+local",
		"<1.0+local",
		"~=2",
		"~=2rc1",
		"~=2.*",
		"~=2.2.*",
		"~=2.rc1",
		"~=1!2",
		"~=2.2+local",
		"==*",
		"==1*",
		"==1 .*",
		"==1..*",
		"==1a1.*",
		"==1.dev1.*",
		"==1+local.*",
		"===a b",
		"===a;b",
		"===a)",
		"===a\xc2\xa0z",
		"===\xff",
		"(>=3)",
	};
	for (size_t i = 0; i < ARRAY_SIZE(table); i++)
		if (specifier_set_is_valid(str_from(table[i])))
			fail_msg("\"%s\"", table[i]);
}

// Expected values of packaging 26, where older releases differ (test-oracle.py compares the rest with any release).
static void test_neighbours(void **state UNUSED)
{
	static const struct {
		const char *set, *version;
		bool admits;
	} table[] = {
		{"<2.0", "2.0rc2", false},
		{"<2.0", "2.dev1", false},
		{"<2.0", "2.0rc2+x", false},
		{"<2.0.post1", "2rc2", true},
		{"<2.0.post1", "2.0.post0.dev1", true},
		{"<2.0.post1", "2.0.post1.dev1", false},
		{"<2.0rc1", "2.0b1", true},
		{"<2.0rc1", "2.0rc1.dev0", true},
		{">1.0", "1.0.post1", false},
		{">1.0", "1.0.post1.dev0", false},
		{">1.0", "1.0+x", false},
		{">1.0", "1.0.post1+x", false},
		{">1.0", "1.0.1", true},
		{">1.0.post1", "1.0.post2", true},
		{">1.0.post1", "1.0.post2+x", true},
		{">1.0.post1", "1.0.post1+x", false},
		{">1.0rc1", "1.0rc1.post1", false},
		{">1.0rc1", "1.0rc2.post1", true},
		{">1.0rc1", "1.0rc2+x", true},
		{">1.0.dev1", "1.0.post1", true},
		{"==0.*", "1!0.1", false},
		{"!=0.*", "1!0.1", true},
		{"~=0.1", "1!0.1", false},
		{"~=1!0.1", "1!0.2", true},
		{"===1.0", "1.0.0", false},
		{"===1.0RC1", "1.0rc1", true},
		{"", "1.0", true},
		{"1.0", "1.0", false},
	};
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		CLEANUP(version_release) struct version v = {0};
		struct err e = ERR_INIT;
		assert_int_equal(version_parse(str_from(table[i].version), &v, &e), 0);
		if (specifier_set_admits(str_from(table[i].set), &v) != table[i].admits)
			fail_msg("\"%s\" and %s", table[i].set, table[i].version);
	}
}

static void test_micros(void **state UNUSED)
{
	uint64_t micros = 7;
	assert_false(specifier_micros(STR(">=3.8.*"), 3, 8, &micros));
	assert_int_equal(micros, 7);
	assert_true(specifier_micros(STR(">=3.8.2,!=3.8.4,<3.8.6"), 3, 8, &micros));
	assert_int_equal(micros, 1 << 2 | 1 << 3 | 1 << 5);
	assert_true(specifier_micros(STR(">=3.8.2,!=3.8.4,<3.8.6"), 3, 9, &micros));
	assert_true(micros == 0);
	assert_true(specifier_micros(STR(""), 3, 9, &micros));
	assert_true(micros == UINT64_MAX);
	assert_true(specifier_micros(STR(">=3.9.63"), 3, 9, &micros));
	assert_true(micros == UINT64_C(1) << 63);
}

// Sets that are valid.
static void test_pins(void **state UNUSED)
{
	static const struct {
		const char *set, *pin; // NULL: none
		bool names_prerelease;
	} table[] = {
		{">=1,== 2.0", "2.0", false},
		{"===any-text", "any-text", false},
		{"==1.*,<2", NULL, false},
		{"", NULL, false},
		{"~=1.0", NULL, false},
		{">=1.0a1", NULL, true},
		{"!=1.0a1", NULL, false},
		{"<2,==1.0.dev3", "1.0.dev3", true},
	};
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		struct str pin = STR("untouched");
		assert_int_equal(specifier_set_pins(str_from(table[i].set), NULL), table[i].pin != NULL);
		assert_int_equal(specifier_set_pins(str_from(table[i].set), &pin), table[i].pin != NULL);
		assert_true(str_eq(pin, str_from(table[i].pin ? table[i].pin : "untouched")));
		assert_int_equal(specifier_set_names_prerelease(str_from(table[i].set)), table[i].names_prerelease);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_valid),
		cmocka_unit_test(test_invalid),
		cmocka_unit_test(test_neighbours),
		cmocka_unit_test(test_micros),
		cmocka_unit_test(test_pins),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
