// SPDX-License-Identifier: Apache-2.0
#include "lib/base/name-choice.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "lib/base/mem.h"

static void assert_refusal(const char *typed, const char *const *names, size_t count, const char *message)
{
	struct err e = ERR_INIT;
	CLEANUP(name_choice_release) struct name_choice c;
	name_choice_init(&c, str_from(typed));
	for (size_t i = 0; i < count; i++)
		name_choice_offer(&c, names[i]);
	assert_int_equal(name_choice_refuse(&c, ERR_NOT_FOUND, "no view", &e), -1);
	assert_int_equal(e.kind, ERR_NOT_FOUND);
	assert_string_equal(e.msg, message);
}

static void names_are_offered(void **state UNUSED)
{
	static const char *const names[] = {"staging", "tested", "team"};
	assert_refusal("tseted", names, 3, "no view tseted; did you mean tested?");
	assert_refusal("x", names, 3, "no view x; there are staging, tested, team");
	assert_refusal("x", names, 1, "no view x; there is staging");
	assert_refusal("x", names, 0, "no view x");
	assert_refusal("", names, 2, "no view ; there are staging, tested");
}

// A list has those that fit, in their order, and the number of the others.
static void long_lists_are_cut(void **state UNUSED)
{
	struct err e = ERR_INIT;
	CLEANUP(name_choice_release) struct name_choice c;
	name_choice_init(&c, STR("zzzzzzzzzzzz"));
	for (int i = 0; i < 1000; i++) {
		char name[32];
		snprintf(name, sizeof(name), "platform-%04d", i);
		name_choice_offer(&c, name);
	}
	name_choice_refuse(&c, ERR_USAGE, "no view", &e);
	assert_non_null(strstr(e.msg, "there are platform-0000, platform-0001, "));
	assert_non_null(strstr(e.msg, ", platform-0012 and 987 more"));
	assert_true(strlen(e.msg) < 300);
}

static void advice_stands_behind_the_message(void **state UNUSED)
{
	struct err e = ERR_INIT;
	err_set(&e, ERR_IO, "no %s", "disk");
	assert_int_equal(err_advise(&e, "buy %d", 2), -1);
	assert_int_equal(e.kind, ERR_IO);
	assert_string_equal(e.msg, "no disk; buy 2");
	for (int i = 0; i < ERR_MSG_SIZE; i++)
		err_advise(&e, "more");
	assert_true(strlen(e.msg) < ERR_MSG_SIZE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_are_offered),
		cmocka_unit_test(long_lists_are_cut),
		cmocka_unit_test(advice_stands_behind_the_message),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
