// SPDX-License-Identifier: Apache-2.0
#include "server/pages/page.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "lib/base/limits.h"

static bool is_read(enum argument_form form, const char *text, struct page_query *out)
{
	static const char *const words[] = {"a", "b+c", "d"};
	const struct request r = {.argument = {[ARGUMENT_TEXT] = text}};
	const struct page_argument argument = {.name = ARGUMENT_TEXT,
		.form = form,
		.choice = words,
		.choices = ARRAY_SIZE(words),
		.refusal = "q is a word"};
	const struct page_row page = {.argument = &argument, .arguments = 1};
	*out = (struct page_query){.page = &page};
	CLEANUP(reply_cleanup) struct reply *refused = page_read_arguments(out, &r);
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
		{FORM_TEXT, "%00", false}, {FORM_CHOICE, "b%2Bc", true}, {FORM_CHOICE, "a,d", false},
		{FORM_CHOICES, "a,d", true}, {FORM_CHOICES, "a,e", false}, {FORM_CHOICE, "", true}};
	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
		struct page_query got;
		if (is_read(table[i].form, table[i].text, &got) != table[i].is_good)
			fail_msg("form %d: '%s'", table[i].form, table[i].text);
	}
}

static void test_text_is_decoded_and_bounded(void **state UNUSED)
{
	char longest[REQUEST_ARGUMENT_SIZE + 1];
	struct page_query got;
	assert_true(is_read(FORM_CHOICES, "a,b%2Bc+d", &got));
	assert_string_equal(got.text[ARGUMENT_TEXT], "a b+c d");
	assert_string_equal(got.text[ARGUMENT_PYTHON], "");
	memset(longest, 'a', sizeof(longest));
	longest[REQUEST_ARGUMENT_SIZE] = '\0';
	assert_false(is_read(FORM_TEXT, longest, &got));
	assert_true(is_read(FORM_TEXT, longest + 1, &got));
}

// Its key has only these.
static void test_kept_page_sees_what_its_row_names(void **state UNUSED)
{
	static const struct page_argument named = {.name = ARGUMENT_TEXT};
	static const enum page_kind kind[] = {PAGE_SIMPLE, PAGE_PROJECT};
	const struct request r = {.argument = {[ARGUMENT_TEXT] = "a", [ARGUMENT_VERSION] = "1"}};
	for (size_t i = 0; i < ARRAY_SIZE(kind); i++) {
		const struct page_row page = {.kind = kind[i], .argument = &named, .arguments = 1};
		struct page_query q = {.page = &page};
		assert_null(page_read_arguments(&q, &r));
		assert_string_equal(q.text[ARGUMENT_TEXT], "a");
		assert_string_equal(q.text[ARGUMENT_VERSION], kind[i] < PAGE_COSTLY ? "1" : "");
	}
}

static size_t read_limit(const struct page_row *page, const char *text)
{
	const struct request r = {.argument = {[ARGUMENT_LIMIT] = text}};
	struct page_query q = {.page = page};
	assert_null(page_read_arguments(&q, &r));
	return q.limit;
}

// Exceeds LIMIT_BUILDS_ROWS, LIMIT_CHANNEL_ROWS.
static void test_rows_are_bounded(void **state UNUSED)
{
	static const struct page_row *const page[] = {&builds_page, &channel_page};
	static const size_t most[] = {LIMIT_BUILDS_ROWS, LIMIT_CHANNEL_ROWS};
	static const char *const beyond[] = {"4001", "99999999999999999999999", "4001x"};
	for (size_t i = 0; i < ARRAY_SIZE(page); i++) {
		for (size_t k = 0; k < ARRAY_SIZE(beyond); k++)
			assert_int_equal(read_limit(page[i], beyond[k]), most[i]);
		assert_int_equal(read_limit(page[i], "0"), page[i]->rows);
		assert_int_equal(read_limit(page[i], "12"), 12);
	}
}

static void test_lists(void **state UNUSED)
{
	static const struct {
		const char *list, *name;
		bool has;
	} table[] = {{"", "a", true}, {"  ", "a", true}, {"a", "a", true}, {"b a", "a", true}, {"b", "a", false},
		{"a*", "abc", true}, {"[ab]c", "bc", true}, {"[x]", "[x]", true}, {"*b*", "abc", true}, {"?", "ab", false}};
	for (size_t i = 0; i < ARRAY_SIZE(table); i++)
		if (page_list_has(table[i].list, table[i].name) != table[i].has)
			fail_msg("'%s' and '%s'", table[i].list, table[i].name);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_forms),
		cmocka_unit_test(test_text_is_decoded_and_bounded),
		cmocka_unit_test(test_rows_are_bounded),
		cmocka_unit_test(test_lists),
		cmocka_unit_test(test_kept_page_sees_what_its_row_names),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
