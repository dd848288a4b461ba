// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>

#include "lib/base/mem.h"
#include "server/core/project-directory.h"

enum { NAMES = 20000 };

static struct str name(int i, char out[32])
{
	int len = snprintf(out, 32, "project-%d", i);
	return (struct str){out, (size_t)len};
}

static void test_platforms_are_apart(void **state UNUSED)
{
	struct project_filter *s = project_filter_new();
	project_filter_add(s, 1, STR("numpy"));
	assert_true(project_filter_may_have(s, 1, STR("numpy")));
	assert_false(project_filter_may_have(s, 2, STR("numpy")));
	assert_false(project_filter_may_have(s, 1, STR("nump")));
	project_filter_free(s);
}

static void test_grows_and_forgets(void **state UNUSED)
{
	struct project_filter *s = project_filter_new();
	char text[32];
	for (int i = 0; i < NAMES; i++)
		project_filter_add(s, i % 3, name(i, text));
	for (int i = 0; i < NAMES; i += 2)
		project_filter_remove(s, i % 3, name(i, text));
	for (int i = 0; i < NAMES; i++)
		assert_int_equal(project_filter_may_have(s, i % 3, name(i, text)), i % 2);
	for (int i = 0; i < NAMES; i += 2)
		project_filter_add(s, i % 3, name(i, text));
	for (int i = 0; i < NAMES; i++)
		assert_true(project_filter_may_have(s, i % 3, name(i, text)));
	project_filter_free(s);
}

static void test_removing_what_is_not_there(void **state UNUSED)
{
	struct project_filter *s = project_filter_new();
	project_filter_remove(s, 1, STR("a"));
	project_filter_add(s, 1, STR("a"));
	project_filter_add(s, 1, STR("a"));
	project_filter_remove(s, 1, STR("a"));
	assert_false(project_filter_may_have(s, 1, STR("a")));
	project_filter_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_platforms_are_apart),
		cmocka_unit_test(test_grows_and_forgets),
		cmocka_unit_test(test_removing_what_is_not_there),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
