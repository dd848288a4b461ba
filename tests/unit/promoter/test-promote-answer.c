// SPDX-License-Identifier: Apache-2.0
#include "promoter/promote-answer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lib/base/limits.h"
#include "lib/base/mem.h"

// A row for each letter: the first one of its result's name, and the row's number as file name.
static void add_rows(struct promote_answer *a, const char *results)
{
	for (size_t i = 0; results[i]; i++) {
		CLEANUP(mem_free) char *name = xasprintf("%zu", i);
		enum promote_result result = PROMOTE_DONE;
		while (promote_result_name[result][0] != results[i])
			result++;
		promote_answer_add(a, &(struct promote_row){.filename = name, .result = result});
	}
	promote_answer_count(a);
}

static void rows_are_limited(void **state UNUSED)
{
	static const struct {
		const char *results;
		size_t most, left_out;
		const char *rows; // the file names
	} cases[] = {
		{"adra", 4, 0, "0123"},
		{"adra", 3, 2, "12"},
		{"adra", 1, 3, "1"},
		{"aaa", 2, 3, ""},
		{"ddd", 2, 1, "01"},
		{"", 2, 0, ""},
	};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		CLEANUP(promote_answer_release) struct promote_answer a = {0};
		CLEANUP(buf_release) struct buf rows;
		buf_init(&rows, 100);
		add_rows(&a, cases[i].results);
		size_t already = a.count[PROMOTE_ALREADY];
		assert_int_equal(promote_answer_cut(&a, cases[i].most), cases[i].left_out);
		for (size_t k = 0; k < a.rows; k++)
			buf_puts(&rows, a.row[k].filename);
		assert_true(str_eq(buf_view(&rows), str_from(cases[i].rows)));
		assert_int_equal(a.count[PROMOTE_ALREADY], already);
	}
}

// Exceeds LIMIT_PROMOTE_ROWS.
static void answer_of_too_many_files(void **state UNUSED)
{
	CLEANUP(promote_answer_release) struct promote_answer a = {0};
	for (size_t i = 0; i <= LIMIT_PROMOTE_ROWS; i++)
		promote_answer_add(&a, &(struct promote_row){.filename = "a", .result = PROMOTE_REFUSED});
	assert_int_equal(promote_answer_cut(&a, LIMIT_PROMOTE_ROWS), 1);
	assert_int_equal(a.rows, LIMIT_PROMOTE_ROWS);
}

// Exceeds LIMIT_PROMOTE_LEFT.
static void only_some_rows_are_told_again(void **state UNUSED)
{
	static const enum promote_result told[] = {PROMOTE_LEFT, PROMOTE_OVERTAKEN};
	for (size_t t = 0; t < ARRAY_SIZE(told); t++) {
		CLEANUP(promote_answer_release) struct promote_answer a = {0};
		promote_answer_add(&a, &(struct promote_row){.filename = "first", .result = told[t], .is_repeated = true});
		promote_answer_add(&a, &(struct promote_row){.filename = "done", .result = PROMOTE_DONE});
		promote_answer_add(&a, &(struct promote_row){.filename = "now", .result = PROMOTE_OVERTAKEN});
		for (size_t i = 0; i < LIMIT_PROMOTE_LEFT; i++)
			promote_answer_add(
				&a, &(struct promote_row){.filename = "b", .result = told[t], .is_repeated = true});
		promote_answer_count(&a);
		size_t count = a.count[told[t]];
		promote_answer_shorten(&a);
		assert_int_equal(a.rows, LIMIT_PROMOTE_LEFT + 2);
		assert_string_equal(a.row[0].filename, "done");
		assert_string_equal(a.row[1].filename, "now");
		assert_int_equal(a.count[told[t]], count);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_are_limited),
		cmocka_unit_test(answer_of_too_many_files),
		cmocka_unit_test(only_some_rows_are_told_again),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
