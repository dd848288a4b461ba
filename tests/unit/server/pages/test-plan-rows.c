// SPDX-License-Identifier: Apache-2.0
#include "server/pages/plan-rows.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void numbers(void **state)
{
	(void)state;
	static const struct {
		const char *text, *want;
	} cases[] = {
		{"", ""},
		{"7", "7"},
		{"7-8,9", "7-8-9"},
		{"7-7,7", "7"},
		{"--1--,,2-", "1-2"},
		{"0-00-3", "3"},
		{"x\"><b>4", "4"},
		{"9223372036854775807", "9223372036854775807"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct plan_choice x = {0};
		CLEANUP(buf_release) struct buf out;
		buf_init(&out, 1000);
		plan_choice_read(&x, cases[i].text);
		plan_choice_write(&x, NULL, &out);
		assert_string_equal(out.data, cases[i].want);
		assert_false(x.has_more);
	}
}

// Exceeds LIMIT_PLAN_CHOSEN.
static void numbers_are_limited(void **state)
{
	(void)state;
	struct plan_choice x = {0};
	CLEANUP(buf_release) struct buf text;
	buf_init(&text, 1 << 16);
	for (int i = 1; i <= LIMIT_PLAN_CHOSEN + 1; i++)
		buf_printf(&text, "%d-", i);
	plan_choice_read(&x, text.data);
	assert_int_equal(x.count, LIMIT_PLAN_CHOSEN);
	assert_true(x.has_more);
	assert_true(plan_choice_has(&x, LIMIT_PLAN_CHOSEN));
	assert_false(plan_choice_has(&x, LIMIT_PLAN_CHOSEN + 1));
}

static void rows_are_left_out(void **state)
{
	(void)state;
	struct plan_choice x = {0};
	struct plan_row row[] = {{.file = {.id = 8}}, {.file = {.id = 5}}};
	const struct plan_rows rows = {.row = row, .count = 2};
	CLEANUP(buf_release) struct buf out;
	buf_init(&out, 100);
	plan_choice_read(&x, "7-8-9");
	plan_choice_write(&x, &rows, &out);
	assert_string_equal(out.data, "7-9");
}

static void shell_words(void **state)
{
	(void)state;
	static const struct {
		const char *word, *want;
	} cases[] = {
		{"p/six-1.0+x.whl", "p/six-1.0+x.whl"},
		{"a b", "'a b'"},
		{"it's", "'it'\\''s'"},
		{"$(x)`y`;&|", "'$(x)`y`;&|'"},
		{"1!2.0", "'1!2.0'"},
		{"-n", "'-n'"},
		{"", "''"},
		{"a\nb\x1b\x7f", "'a?b?"
				 "?'"},
		{"~x", "'~x'"},
		{"\xc3\xa9", "'\xc3\xa9'"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		CLEANUP(buf_release) struct buf out;
		buf_init(&out, 100);
		plan_choice_shell_word(&out, cases[i].word);
		assert_string_equal(out.data, cases[i].want);
	}
}

static void commands(void **state)
{
	(void)state;
	const struct platform jammy = {.name = (char[]){"jammy"}};
	struct plan_row row[] = {
		{.file = {.path = "s/six/six-1.0.whl"}, .platform = &jammy},
		{.file = {.path = "<b>'"}, .platform = &jammy},
	};
	CLEANUP(buf_release) struct buf all, without;
	buf_init(&all, 1000);
	buf_init(&without, 1000);
	plan_choice_command(&all, &(struct plan_rows){0}, NULL);
	assert_string_equal(all.data, "wheelcache prune apply --config /etc/wheelcache/wheelcache.conf plan.json");
	plan_choice_command(&without, &(struct plan_rows){.row = row, .count = 2}, "my plan");
	assert_string_equal(without.data,
		"wheelcache prune apply --config /etc/wheelcache/wheelcache.conf \\\n    --except jammy/s/six/six-1.0.whl \\\n"
		"    --except 'jammy/&lt;b&gt;'\\''' \\\n    'my plan'");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers),
		cmocka_unit_test(numbers_are_limited),
		cmocka_unit_test(rows_are_left_out),
		cmocka_unit_test(shell_words),
		cmocka_unit_test(commands),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
