// SPDX-License-Identifier: Apache-2.0
#include "lib/state/upstream/rule-list.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "lib/base/mem.h"

static char folder[] = "test-rule-list.XXXXXX";
static char *path;

static int make_folder(void **state UNUSED)
{
	path = mkdtemp(folder) ? xasprintf("%s/deny.list", folder) : NULL;
	return path ? 0 : -1;
}

static int remove_folder(void **state UNUSED)
{
	unlink(path);
	free(path);
	return rmdir(folder);
}

static void write_list(const char *text)
{
	unlink(path); // another inode
	FILE *f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static const char *reason(const struct rule_list *l, const char *project, const char *filename, const char *platform)
{
	const struct requirement *line = rule_list_find(l, project, filename, platform);
	return line ? line->reason : "";
}

static void first_line_that_has_the_file_counts(void **state UNUSED)
{
	struct err e = ERR_INIT;
	CLEANUP(rule_list_cleanup) struct rule_list *l = NULL;
	write_list("six ==1.0 one\nsix platform=debian-* two\nFoo_Bar >=2 three\n");
	assert_int_equal(rule_list_open(path, true, &l, &e), 0);
	assert_string_equal(reason(l, "six", "six-1.0-py3-none-any.whl", "ubuntu-22.04-x86_64"), "one");
	assert_string_equal(reason(l, "six", "six-1.1-py3-none-any.whl", "debian-12-x86_64"), "two");
	assert_string_equal(reason(l, "six", "six-1.1-py3-none-any.whl", "ubuntu-22.04-x86_64"), "");
	assert_string_equal(reason(l, "foo-bar", "foo_bar-2.1.tar.gz", "debian-12-x86_64"), "three");
	assert_string_equal(reason(l, "foo-bar", "foo_bar-1.1.tar.gz", "debian-12-x86_64"), "");
	assert_string_equal(reason(l, "foo-bar", "what is this", "debian-12-x86_64"), "three"); // it may be any version
	assert_string_equal(reason(l, "other", "other-1.0-py3-none-any.whl", "debian-12-x86_64"), "");
}

static void without_a_path_there_is_no_line(void **state UNUSED)
{
	struct err e = ERR_INIT;
	struct rule_list *l;
	assert_int_equal(rule_list_open(NULL, true, &l, &e), 0);
	assert_null(l);
	assert_null(rule_list_find(l, "six", "six-1.0-py3-none-any.whl", "x"));
	assert_int_equal(rule_list_lines(l)->count, 0);
	assert_false(rule_list_has_changed(l));
	rule_list_blame(l);
	rule_list_unref(rule_list_ref(l));
}

static void change_is_noticed_and_a_missing_file_is_one_at_two_looks(void **state UNUSED)
{
	struct err e = ERR_INIT;
	CLEANUP(rule_list_cleanup) struct rule_list *l = NULL;
	write_list("six\n");
	assert_int_equal(rule_list_open(path, true, &l, &e), 0);
	assert_false(rule_list_has_changed(l));
	write_list("six ==1.0\n");
	assert_true(rule_list_has_changed(l));
	rule_list_blame(l);
	assert_false(rule_list_has_changed(l));
	unlink(path);
	assert_false(rule_list_has_changed(l));
	assert_true(rule_list_has_changed(l));
	rule_list_blame(l);
	assert_false(rule_list_has_changed(l));
	struct rule_list *none;
	assert_int_equal(rule_list_open(path, true, &none, &e), -1);
	assert_int_equal(e.kind, ERR_NOT_FOUND);
	assert_null(none);
}

static void wrong_line_is_named(void **state UNUSED)
{
	struct err e = ERR_INIT;
	struct rule_list *l;
	write_list("six ==1.0\nsix platform=debian-* x\n");
	assert_int_equal(rule_list_open(path, false, &l, &e), -1);
	assert_non_null(strstr(e.msg, "deny.list:2: files of upstreams have no platform"));
	write_list("\nsix ==what\n");
	assert_int_equal(rule_list_open(path, true, &l, &e), -1);
	assert_int_equal(e.kind, ERR_USAGE);
	assert_non_null(strstr(e.msg, "deny.list:2: "));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(first_line_that_has_the_file_counts),
		cmocka_unit_test(without_a_path_there_is_no_line),
		cmocka_unit_test(change_is_noticed_and_a_missing_file_is_one_at_two_looks),
		cmocka_unit_test(wrong_line_is_named),
	};
	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
