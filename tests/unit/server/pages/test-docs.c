// SPDX-License-Identifier: Apache-2.0
// The pages of the documentation in the program, and where their links lead.
#include "server/pages/docs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lib/base/limits.h"
#include "lib/base/mem.h"

static void pages_have_a_title_and_fit(void **state UNUSED)
{
	assert_true(docs_page_count > 10);
	for (size_t i = 0; i < docs_page_count; i++) {
		struct str text = str_from(docs_page[i].text);
		assert_true(str_starts(text, STR("# ")));
		assert_int_equal(text.ptr[text.len - 1], '\n');
		assert_true(text.len < LIMIT_README);
	}
}

static void pages_are_found_by_their_whole_name(void **state UNUSED)
{
	static const char *const there[] = {"README.md", "index.md", "pruning.md"};
	static const char *const absent[] = {"", "pruning", "runing.md", "pruning.md ", "docs/pruning.md", "readme.md"};
	for (size_t i = 0; i < ARRAY_SIZE(there); i++)
		assert_non_null(docs_page_named(str_from(there[i])));
	for (size_t i = 0; i < ARRAY_SIZE(absent); i++)
		assert_null(docs_page_named(str_from(absent[i])));
}

static void links_between_pages_are_kept(void **state UNUSED)
{
	static const struct {
		const char *target, *link;
	} table[] = {
		{"afs.md", "afs.md"},
		{"audit.md#policy", "audit.md#policy"},
		{"docs/audit.md#policy", "audit.md#policy"},
		{"../README.md", "README.md"},
		{"../README.md#how-a-store-looks", "README.md#how-a-store-looks"},
		{"../bench/inside.md", ""},
		{"../../afs.md", ""},
		{"docs/project-page.png", ""},
		{"wheelcache.1", ""},
		{"", ""},
		{"#policy", ""},
	};
	for (size_t i = 0; i < ARRAY_SIZE(table); i++)
		assert_true(str_eq(docs_page_link(str_from(table[i].target)), str_from(table[i].link)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pages_have_a_title_and_fit),
		cmocka_unit_test(pages_are_found_by_their_whole_name),
		cmocka_unit_test(links_between_pages_are_kept),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
