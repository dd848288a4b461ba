// SPDX-License-Identifier: Apache-2.0
#include "lib/install/finder.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "lib/domain/machine/profile.h"

enum { OURS = 1, THEIRS = 2, BOTH = OURS | THEIRS };

// The file that is chosen on Python 3.11 on Debian 12, of files in this order. NULL: none.
struct finder_row {
	const char *version; // the requested version; NULL: any
	const char *file[5]; // "!" before a yanked one
	const char *chosen;
};

static void assert_chosen(const struct environment *env, const struct finder_row *row)
{
	struct err e = ERR_INIT;
	CLEANUP(finder_cleanup) struct finder *f = NULL;
	struct finder_choice choice;
	assert_int_equal(finder_new(row->version, &f, &e), 0);
	for (size_t i = 0; i < ARRAY_SIZE(row->file) && row->file[i]; i++) {
		bool is_yanked = row->file[i][0] == '!';
		const struct finder_file file = {
			.filename = row->file[i] + is_yanked, .is_yanked = is_yanked, .sources = OURS};
		finder_add(f, "foo", &file);
	}
	finder_choose(f, env, BOTH, &choice);
	const char *chosen = choice.file ? choice.file->filename : "nothing";
	if (strcmp(chosen, row->chosen ? row->chosen : "nothing") != 0)
		fail_msg("%s, not %s", chosen, row->chosen);
	finder_choose(f, env, THEIRS, &choice);
	assert_null(choice.file);
}

static struct profile make_debian(void)
{
	struct err e = ERR_INIT;
	struct profile p;
	const struct profile_keys keys = {.pythons = "3.11", .arch = "x86_64", .libc = "glibc 2.36"};
	assert_int_equal(profile_init(&p, "debian-12-x86_64", &keys, &e), 0);
	return p;
}

static void test_order(void **state UNUSED)
{
	static const struct finder_row table[] = {
		{NULL, {NULL}, NULL},
		{NULL, {"foo-1-py3-none-any.whl", "foo-2-py3-none-any.whl", "foo-1.9-py3-none-any.whl"},
			"foo-2-py3-none-any.whl"},
		{NULL, {"foo-2-cp310-cp310-linux_x86_64.whl", "foo-1-cp311-cp311-linux_x86_64.whl"},
			"foo-1-cp311-cp311-linux_x86_64.whl"},
		{NULL,
			{"foo-1-py3-none-any.whl", "foo-1-cp38-abi3-linux_x86_64.whl",
				"foo-1-cp311-cp311-linux_x86_64.whl"},
			"foo-1-cp311-cp311-linux_x86_64.whl"},
		{NULL,
			{"foo-1-cp311-cp311-manylinux_2_17_x86_64.whl", "foo-1-cp311-cp311-manylinux_2_36_x86_64.whl",
				"foo-1-cp311-cp311-manylinux_2_37_x86_64.whl"},
			"foo-1-cp311-cp311-manylinux_2_36_x86_64.whl"},
		{NULL, {"foo-1-2-py3-none-any.whl", "foo-1-10-py3-none-any.whl", "foo-1-py3-none-any.whl"},
			"foo-1-10-py3-none-any.whl"},
		{NULL, {"foo-1-py2.py3-none-any.whl", "Foo-1-py3-none-any.whl"}, "Foo-1-py3-none-any.whl"},
		{NULL, {"foo-3.tar.gz", "foo-1-py3-none-any.whl"}, "foo-1-py3-none-any.whl"},
		{NULL, {"foo-3.tar.gz", "foo-4.zip"}, "foo-4.zip"},
		{NULL, {"foo-2rc1-py3-none-any.whl", "foo-1-py3-none-any.whl"}, "foo-1-py3-none-any.whl"},
		{NULL, {"foo-2rc1-py3-none-any.whl", "foo-2.dev1-py3-none-any.whl"}, "foo-2rc1-py3-none-any.whl"},
		{NULL, {"!foo-2-py3-none-any.whl", "foo-1-py3-none-any.whl"}, "foo-1-py3-none-any.whl"},
		{NULL, {"!foo-2-py3-none-any.whl"}, NULL},
		{NULL, {"foo_bar-2-py3-none-any.whl", "foo-2.egg", "junk", "foo-x-py3-none-any.whl"}, NULL},
		{"2", {"!foo-2.0-py3-none-any.whl", "foo-1-py3-none-any.whl"}, "foo-2.0-py3-none-any.whl"},
		{"2", {"!foo-2.0-cp311-cp311-linux_x86_64.whl", "foo-2-py3-none-any.whl"}, "foo-2-py3-none-any.whl"},
		{"2rc1", {"foo-2rc1-py3-none-any.whl"}, "foo-2rc1-py3-none-any.whl"},
		{"1.0", {"foo-1-py3-none-any.whl", "foo-1.0+local-py3-none-any.whl", "foo-1.0.1-py3-none-any.whl"},
			"foo-1.0+local-py3-none-any.whl"},
		{"1+local", {"foo-1-py3-none-any.whl", "foo-1.0+local-py3-none-any.whl"},
			"foo-1.0+local-py3-none-any.whl"},
	};
	CLEANUP(profile_release) struct profile p = make_debian();
	for (size_t i = 0; i < ARRAY_SIZE(table); i++)
		assert_chosen(&p.environment[0], &table[i]);
}

static void test_requires_python(void **state UNUSED)
{
	static const struct {
		const char *python;
		bool is_chosen, has_all;
	} table[] = {
		{NULL, true, true},
		{">=3.8", true, true},
		{"<3.11", false, false},
		{">=3.11.4", true, false},
		{"junk", true, true},
	};
	CLEANUP(profile_release) struct profile p = make_debian();
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		struct err e = ERR_INIT;
		CLEANUP(finder_cleanup) struct finder *f = NULL;
		struct finder_choice choice;
		assert_int_equal(finder_new(NULL, &f, &e), 0);
		finder_add(f, "foo",
			&(struct finder_file){.filename = "foo-1-py3-none-any.whl",
				.requires_python = table[i].python,
				.sources = OURS});
		finder_choose(f, &p.environment[0], OURS, &choice);
		assert_int_equal(choice.file != NULL, table[i].is_chosen);
		assert_int_equal(choice.has_all_micros, table[i].has_all);
	}
}

static void test_invalid_version(void **state UNUSED)
{
	struct err e = ERR_INIT;
	struct finder *f = NULL;
	assert_int_equal(finder_new("==1", &f, &e), -1);
	assert_int_equal(e.kind, ERR_INVALID);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_requires_python),
		cmocka_unit_test(test_invalid_version),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
