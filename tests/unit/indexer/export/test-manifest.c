// SPDX-License-Identifier: Apache-2.0
#include "indexer/export/manifest.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define HEADING "wheelcache static export 1\n"

static void fill(struct manifest *i, struct str words)
{
	while (words.ptr) {
		struct str word = str_cut(&words, ' ');
		if (word.len)
			manifest_add(i, xstrndup(word.ptr, word.len));
	}
	manifest_sort(i);
}

static void test_two_lists_are_printed_as_one(void **state UNUSED)
{
	static const struct {
		struct str a, b;
		const char *text;
	} table[] = {
		{STR(""), STR(""), HEADING},
		{STR("b a"), STR(""), HEADING "a\nb\n"},
		{STR(""), STR("b a"), HEADING "a\nb\n"},
		{STR("a c d/"), STR("b c a"), HEADING "a\nb\nc\nd/\n"},
		{STR("x/ x"), STR("x- x/"), HEADING "x\nx-\nx/\n"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		CLEANUP(manifest_release) struct manifest a = {0};
		CLEANUP(manifest_release) struct manifest b = {0};
		CLEANUP(buf_release) struct buf out;
		buf_init(&out, 1000);
		fill(&a, table[i].a);
		fill(&b, table[i].b);
		manifest_print(&a, &b, &out);
		assert_string_equal(out.data, table[i].text);
	}
}

static void test_what_was_printed_is_read(void **state UNUSED)
{
	struct err e = ERR_INIT;
	CLEANUP(manifest_release) struct manifest i = {0};
	assert_int_equal(manifest_parse(STR(HEADING "simple/six/\nfiles/x\nsimple/\n"), &i, &e), 0);
	assert_int_equal(i.count, 3);
	assert_true(manifest_has(&i, "simple/") && manifest_has(&i, "files/x"));
	assert_false(manifest_has(&i, "files") || manifest_has(&i, "simple/six") || manifest_has(&i, ""));
}

static void test_nothing_else_is_read(void **state UNUSED)
{
	static const struct str table[] = {
		STR(""), STR("wheelcache static export 1"), STR("wheelcache static export 2\na\n"), STR("simple/\n")};
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		struct err e = ERR_INIT;
		CLEANUP(manifest_release) struct manifest none = {0};
		assert_int_equal(manifest_parse(table[i], &none, &e), -1);
		assert_int_equal(e.kind, ERR_USAGE);
		assert_false(none.count || manifest_has(&none, "simple/"));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_two_lists_are_printed_as_one),
		cmocka_unit_test(test_what_was_printed_is_read),
		cmocka_unit_test(test_nothing_else_is_read),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
