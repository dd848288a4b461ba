// SPDX-License-Identifier: Apache-2.0
#include "pruner/operations/apply.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "lib/base/limits.h"
#include "lib/base/mem.h"
#include "pruner/plan/planfile.h"

static const struct planfile_entry six = {
	.platform = "jammy", .filename = "six-1.0-py3-none-any.whl", .path = "s/six/six-1.0-py3-none-any.whl"};

static void words(void **state)
{
	(void)state;
	static const struct {
		const char *word;
		bool is_taken;
	} cases[] = {
		{"six-1.0-py3-none-any.whl", true},
		{"jammy/six-1.0-py3-none-any.whl", true},
		{"jammy/s/six/six-1.0-py3-none-any.whl", true},
		{"six-1.0-*", true},
		{"jammy/*", true},
		{"*", true},
		{"six-1.?-py3-none-any.whl", true},
		{"[st]ix-*", true},
		{"six", false},
		{"six-1.0", false},
		{"SIX-*", false},
		{"noble/*", false},
		{"noble/six-1.0-py3-none-any.whl", false},
		{"s/six/six-1.0-py3-none-any.whl", false},
	};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct err e = ERR_INIT;
		CLEANUP(exceptions_release) struct exceptions x = {0};
		assert_int_equal(exceptions_add(&x, cases[i].word, &e), 0);
		exceptions_sort(&x);
		if (exceptions_take(&x, &six) != cases[i].is_taken)
			fail_msg("%s", cases[i].word);
		assert_int_equal(exceptions_unused(&x) == NULL, cases[i].is_taken);
	}
}

// A file's name may have special characters: quarantined files have any name.
static void odd_names(void **state)
{
	(void)state;
	struct err e = ERR_INIT;
	const struct planfile_entry odd = {.platform = "p", .filename = "a[1]*.whl", .path = "a[1]*.whl"};
	CLEANUP(exceptions_release) struct exceptions x = {0};
	assert_int_equal(exceptions_add(&x, "p/a[1]*.whl", &e), 0);
	exceptions_sort(&x);
	assert_true(exceptions_take(&x, &odd));
	assert_null(exceptions_unused(&x));
}

static void each_word_must_be_used(void **state)
{
	(void)state;
	struct err e = ERR_INIT;
	static const char *const word[] = {"b", "six-1.0-py3-none-any.whl", "six-1.0-py3-none-any.whl", "jammy/six*"};
	CLEANUP(exceptions_release) struct exceptions x = {0};
	for (size_t i = 0; i < ARRAY_SIZE(word); i++)
		assert_int_equal(exceptions_add(&x, word[i], &e), 0);
	exceptions_sort(&x);
	assert_string_equal(exceptions_unused(&x), "b");
	assert_true(exceptions_take(&x, &six));
	assert_string_equal(exceptions_unused(&x), "b"); // the second one, twice, and the glob are used
	const struct planfile_entry b = {.platform = "noble", .filename = "b", .path = "b"};
	assert_true(exceptions_take(&x, &b));
	assert_null(exceptions_unused(&x));
}

// Exceeds LIMIT_EXCEPTION_GLOBS.
static void globs_are_limited(void **state)
{
	(void)state;
	struct err e = ERR_INIT;
	CLEANUP(exceptions_release) struct exceptions x = {0};
	for (int i = 0; i < LIMIT_EXCEPTION_GLOBS; i++)
		assert_int_equal(exceptions_add(&x, "a*", &e), 0);
	assert_int_equal(exceptions_add(&x, "name", &e), 0);
	assert_int_equal(exceptions_add(&x, "a*", &e), -1);
	assert_int_equal(e.kind, ERR_USAGE);
	assert_int_equal(exceptions_add(&x, "", &e), -1);
	assert_int_equal(exceptions_add(&x, "@/no/such/file", &e), -1);
	assert_int_equal(e.kind, ERR_NOT_FOUND);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words),
		cmocka_unit_test(odd_names),
		cmocka_unit_test(each_word_must_be_used),
		cmocka_unit_test(globs_are_limited),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
