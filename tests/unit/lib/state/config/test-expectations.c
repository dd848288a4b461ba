// SPDX-License-Identifier: Apache-2.0
#include "lib/state/config/config-views.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "lib/base/buf.h"

static void times_and_kinds_in_turns(void **state UNUSED)
{
	struct err e = ERR_INIT;
	CLEANUP(expectations_release) struct expectations x = {0};
	assert_int_equal(expectations_read(" 26h integration  8d performance ", &x, &e), 0);
	assert_int_equal(x.count, 2);
	assert_string_equal(x.item[0].kind, "integration");
	assert_int_equal(x.item[0].seconds, 26 * 3600);
	assert_string_equal(x.item[1].kind, "performance");
	assert_int_equal(x.item[1].seconds, 8 * 86400);
	expectations_release(&x);
	assert_int_equal(expectations_read(NULL, &x, &e), 0);
	assert_int_equal(x.count, 0);
}

static void other_words_are_refused(void **state UNUSED)
{
	static const struct {
		const char *text, *reason;
	} cases[] = {
		{"integration", "\"integration\" is no time"},
		{"26h", "\"\" is no kind"},
		{"26h a 3d", "\"\" is no kind"},
		{"0h a", "\"0h\" is no time"},
		{"-1h a", "\"-1h\" is no time"},
		{"26h a b", "\"b\" is no time"},
		{"26h a/b", "\"a/b\" is no kind"},
		{"26h a 8d a", "a stands there twice"},
		{"99999999999999999999d a", "is no time"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct err e = ERR_INIT;
		struct expectations x;
		if (expectations_read(cases[i].text, &x, &e) != -1 || e.kind != ERR_USAGE ||
			!strstr(e.msg, cases[i].reason))
			fail_msg("%s: %s", cases[i].text, e.msg);
	}
}

// Exceeds LIMIT_EXPECTATIONS.
static void their_number_is_limited(void **state UNUSED)
{
	struct err e = ERR_INIT;
	CLEANUP(expectations_release) struct expectations x = {0};
	CLEANUP(buf_release) struct buf text;
	buf_init(&text, 10000);
	for (int i = 0; i < LIMIT_EXPECTATIONS; i++)
		buf_printf(&text, "1h k%d ", i);
	assert_int_equal(expectations_read(text.data, &x, &e), 0);
	expectations_release(&x);
	buf_puts(&text, "1h more");
	assert_int_equal(expectations_read(text.data, &x, &e), -1);
	assert_non_null(strstr(e.msg, "expect: more than 16 kinds"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(times_and_kinds_in_turns),
		cmocka_unit_test(other_words_are_refused),
		cmocka_unit_test(their_number_is_limited),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
