// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lib/base/mem.h"
#include "lib/domain/specifier.h"

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_valid),
		cmocka_unit_test(test_invalid),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
