// SPDX-License-Identifier: Apache-2.0
#include "server/pages/arguments.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "lib/base/limits.h"

static bool is_read(enum argument_form form, const char *text, struct arguments *out)
{
	struct request r = {.argument = {[ARGUMENT_TEXT] = text}};
	const enum argument_form forms[ARGUMENT_COUNT] = {[ARGUMENT_TEXT] = form};
	CLEANUP(reply_cleanup) struct reply *refused = arguments_read(&r, forms, out);
	assert_true(!refused || refused->status == 400);
	return !refused;
}

static void test_forms(void **state UNUSED)
{
	static const struct {
		enum argument_form form;
		const char *text;
		bool is_good;
	} table[] = {{FORM_PYTHON, "", true}, {FORM_PYTHON, "3.11", true}, {FORM_PYTHON, "3.13t", true},
		{FORM_PYTHON, "pp310", true}, {FORM_PYTHON, "%2F1", false}, {FORM_PYTHON, "3.11%2F1", false},
		{FORM_PYTHON, "3.11 ", false}, {FORM_PYTHON, "3.*", false}, {FORM_PYTHON, "x", false},
		{FORM_PYTHONS, "3.11,3.1*+pp310", true}, {FORM_PYTHONS, "3.1%3F", true}, {FORM_PYTHONS, "3.11,%2F1", false},
		{FORM_PYTHONS, "3*%2F", false}, {FORM_PYTHONS, "ubuntu", false}, {FORM_PLATFORM, "ubuntu-22.04", true},
		{FORM_PLATFORM, "a%2Fb", false}, {FORM_PLATFORM, ".a", false}, {FORM_PLATFORM, "ubuntu-*", false},
		{FORM_PLATFORM, "simple", false}, {FORM_PLATFORM_GLOB, "ubuntu-*", true},
		{FORM_PLATFORM_GLOB, "[a-b]?_!^x", true}, {FORM_PLATFORM_GLOB, "a*%2F1", false},
		{FORM_PLATFORM_GLOB, "a,b", false}, {FORM_PLATFORMS, "a,b-* c", true}, {FORM_PLATFORMS, "a,b:c", false},
		{FORM_PROJECT, "Zope.Interface", true}, {FORM_PROJECT, "-a", false}, {FORM_PROJECT, "a*", false},
		{FORM_PROJECT_GLOB, "zope*", true}, {FORM_PROJECT_GLOB, "*%00", false}, {FORM_PROJECTS, "a b,c*", true},
		{FORM_PROJECTS, "a;b", false}, {FORM_VIEW, "simple", true}, {FORM_VIEW, "tested", true},
		{FORM_VIEW, "tested@1", false}, {FORM_TEXT, "%2F1 ;,", true}, {FORM_TEXT, "%zz", false},
		{FORM_TEXT, "%00", false}};
	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
		struct arguments got;
		if (is_read(table[i].form, table[i].text, &got) != table[i].is_good)
			fail_msg("form %d: '%s'", table[i].form, table[i].text);
	}
}

static void test_text_is_decoded_and_bounded(void **state UNUSED)
{
	char longest[REQUEST_ARGUMENT_SIZE + 1];
	struct arguments got;
	assert_true(is_read(FORM_WORDS, "a,b%2Bc+d", &got));
	assert_string_equal(got.text[ARGUMENT_TEXT], "a b+c d");
	assert_string_equal(got.text[ARGUMENT_PYTHON], "");
	memset(longest, 'a', sizeof(longest));
	longest[REQUEST_ARGUMENT_SIZE] = '\0';
	assert_false(is_read(FORM_TEXT, longest, &got));
	assert_true(is_read(FORM_TEXT, longest + 1, &got));
}

// Exceeds LIMIT_BUILDS_ROWS, LIMIT_CHANNEL_ROWS.
static void test_rows_are_bounded(void **state UNUSED)
{
	static const size_t most[] = {LIMIT_BUILDS_ROWS, LIMIT_CHANNEL_ROWS};
	static const char *const beyond[] = {"4001", "99999999999999999999999", "4001x"};
	struct arguments got = {0};
	for (size_t i = 0; i < sizeof(most) / sizeof(*most); i++) {
		for (size_t k = 0; k < sizeof(beyond) / sizeof(*beyond); k++) {
			snprintf(got.text[ARGUMENT_LIMIT], sizeof(got.text[0]), "%s", beyond[k]);
			assert_int_equal(arguments_limit(&got, 7, most[i]), most[i]);
		}
		snprintf(got.text[ARGUMENT_LIMIT], sizeof(got.text[0]), "%s", "0");
		assert_int_equal(arguments_limit(&got, 7, most[i]), 7);
		snprintf(got.text[ARGUMENT_LIMIT], sizeof(got.text[0]), "%s", "12");
		assert_int_equal(arguments_limit(&got, 7, most[i]), 12);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_forms),
		cmocka_unit_test(test_text_is_decoded_and_bounded),
		cmocka_unit_test(test_rows_are_bounded),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
