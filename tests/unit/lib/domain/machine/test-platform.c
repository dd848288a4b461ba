// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lib/base/mem.h"
#include "lib/domain/machine/platform.h"

static void test_slugs(void **state UNUSED)
{
	static const struct {
		const char *name;
		bool is_slug;
	} table[] = {
		{"ubuntu-22.04-x86_64", true},
		{"centos-8-aarch64", true},
		{"alpine-3.20-x86_64", true},
		{"debian-sid-riscv64", true},
		{"opensuse-leap-15.5-x86_64", true},
		{"zope-2-interface", false},
		{"ubuntu-x86_64", false},
		{"ubuntu--x86_64", false},
		{"ubuntu-22.04-", false},
		{"ubuntu-22.04-X86_64", false},
		{"-22.04-x86_64", false},
		{"7-22.04-x86_64", false},
		{".ubuntu-22.04-x86_64", false},
		{"a", false},
		{"", false},
	};
	for (size_t i = 0; i < ARRAY_SIZE(table); i++)
		if (platform_is_slug(str_from(table[i].name)) != table[i].is_slug)
			fail_msg("%s", table[i].name);
}

static void test_names(void **state UNUSED)
{
	static const struct {
		const char *name;
		bool is_valid;
	} table[] = {
		{"wheels", true},
		{"ubuntu-22.04-x86_64", true},
		{"_a", true},
		{"simple2", true},
		{"1234567890123456789012345678901234567890123456789012345678901234", true},
		{"12345678901234567890123456789012345678901234567890123456789012345", false},
		{"", false},
		{".", false},
		{"..", false},
		{".hidden", false},
		{"a/b", false},
		{"a%b", false},
		{"caf\xc3\xa9", false},
		{"simple", false},
		{"files", false},
		{"upload", false},
		{"-", false},
	};
	for (size_t i = 0; i < ARRAY_SIZE(table); i++)
		if (platform_name_is_valid(str_from(table[i].name)) != table[i].is_valid)
			fail_msg("%s", table[i].name);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_slugs),
		cmocka_unit_test(test_names),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
