// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lib/base/buf.h"
#include "lib/domain/text/name.h"
#include "tests/unit/support/vectors.h"

static void check_name(struct str name, bool valid, struct str normal)
{
	CLEANUP(buf_release) struct buf out;
	buf_init(&out, 4096);
	name_normalize(name, &out);
	if (!str_eq(buf_view(&out), normal))
		fail_msg("\"" STR_FMT "\" became \"%s\"", STR_ARG(name), out.data);
	if (name_is_valid(name) != valid)
		fail_msg("\"" STR_FMT "\" should be %s", STR_ARG(name), valid ? "valid" : "invalid");
	if (name_is_normal(name) != str_eq(name, normal))
		fail_msg("\"" STR_FMT "\": name_is_normal() is wrong", STR_ARG(name));
}

static void test_names(void **state UNUSED)
{
	static const struct {
		const char *name;
		bool valid;
		const char *normal;
	} table[] = {
		{"a", true, "a"},
		{"Zope.Interface", true, "zope-interface"},
		{"a-_.b", true, "a-b"},
		{"a--b", true, "a-b"},
		{"ruamel.yaml_clib", true, "ruamel-yaml-clib"},
		{"", false, ""},
		{"-a", false, "-a"},
		{"a.", false, "a-"},
		{"a b", false, "a b"},
		{"a\n", false, "a\n"},
		{"caf\xc3\xa9", false, "caf\xc3\xa9"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(table); i++)
		check_name(str_from(table[i].name), table[i].valid, str_from(table[i].normal));
}

static void test_nul_is_not_a_letter(void **state UNUSED)
{
	assert_false(name_is_valid(STR("a\0b")));
}

enum { ROW_INPUT, ROW_VALID, ROW_NORMAL };

static void check_row(void *ctx UNUSED, const struct vector *row)
{
	CLEANUP(buf_release) struct buf name, normal CLEANUP(buf_release);
	buf_init(&name, 4096);
	buf_init(&normal, 4096);
	vectors_unquote(row->column[ROW_INPUT], &name);
	vectors_unquote(row->column[ROW_NORMAL], &normal);
	check_name(buf_view(&name), str_eq(row->column[ROW_VALID], STR("1")), buf_view(&normal));
}

static void test_vectors(void **state UNUSED)
{
	vectors_foreach("names.tsv", check_row, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_nul_is_not_a_letter),
		cmocka_unit_test(test_vectors),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
