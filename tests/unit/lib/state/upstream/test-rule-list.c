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
	assert_int_equal(rule_list_open(path, NULL, &l, &e), 0);
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
	assert_int_equal(rule_list_open(NULL, NULL, &l, &e), 0);
	assert_null(l);
	assert_null(rule_list_find(l, "six", "six-1.0-py3-none-any.whl", "x"));
	assert_int_equal(rule_list_lines(l)->count, 0);
	assert_false(rule_list_has_changed(l));
	rule_list_unref(rule_list_ref(l));
}

static void change_is_noticed(void **state UNUSED)
{
	struct err e = ERR_INIT;
	CLEANUP(rule_list_cleanup) struct rule_list *l = NULL, *now = NULL;
	write_list("six\n");
	assert_int_equal(rule_list_open(path, NULL, &l, &e), 0);
	assert_false(rule_list_has_changed(l));
	write_list("six ==1.0\nfoo\n");
	assert_true(rule_list_has_changed(l));
	now = rule_list_renew(l);
	assert_int_equal(rule_list_lines(now)->count, 2);
	assert_int_equal(rule_list_lines(l)->count, 1);
	assert_false(rule_list_has_changed(now));
}

static void what_cannot_be_read_is_as_before(void **state UNUSED)
{
	int64_t failed, again;
	const char *where, *why;
	struct err e = ERR_INIT;
	struct rule_list *none, *later;
	CLEANUP(rule_list_cleanup) struct rule_list *l = NULL, *now = NULL;
	write_list("six one\n");
	assert_int_equal(rule_list_open(path, NULL, &l, &e), 0);
	unlink(path);
	assert_false(rule_list_has_changed(l)); // an editor may just replace it
	assert_true(rule_list_has_changed(l));
	now = rule_list_renew(l);
	rule_list_unref(l);
	l = NULL;
	assert_string_equal(reason(now, "six", "six-1.0-py3-none-any.whl", "x"), "one");
	assert_false(rule_list_has_changed(now));
	assert_false(rule_list_has_changed(now));
	rule_list_tell(now, &where, &why, &failed);
	assert_string_equal(where, path);
	assert_non_null(strstr(why, "[server] deny: "));
	assert_true(failed > 0);
	write_list("six ==what\n");
	assert_true(rule_list_has_changed(now));
	later = rule_list_renew(now);
	rule_list_unref(now);
	now = later;
	assert_string_equal(reason(now, "six", "six-1.0-py3-none-any.whl", "x"), "one");
	rule_list_tell(now, &where, &why, &again);
	assert_non_null(strstr(why, "deny.list:1: "));
	assert_int_equal(again, failed); // it is the same failure
	write_list("foo\n");
	later = rule_list_renew(now);
	rule_list_unref(now);
	now = later;
	assert_string_equal(reason(now, "six", "six-1.0-py3-none-any.whl", "x"), "");
	rule_list_tell(now, &where, &why, &again);
	assert_null(why);
	unlink(path);
	assert_int_equal(rule_list_open(path, NULL, &none, &e), -1);
	assert_int_equal(e.kind, ERR_NOT_FOUND);
	assert_null(none);
}

static void wrong_line_is_named(void **state UNUSED)
{
	struct err e = ERR_INIT;
	struct rule_list *l;
	write_list("six ==1.0\nsix platform=debian-* x\n");
	assert_int_equal(rule_list_open(path, "allow", &l, &e), -1);
	assert_non_null(strstr(e.msg, "[upstream] allow: "));
	assert_non_null(strstr(e.msg, "deny.list:2: files of upstreams have no platform"));
	write_list("\nsix ==what\n");
	assert_int_equal(rule_list_open(path, NULL, &l, &e), -1);
	assert_int_equal(e.kind, ERR_USAGE);
	assert_non_null(strstr(e.msg, "deny.list:2: "));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(first_line_that_has_the_file_counts),
		cmocka_unit_test(without_a_path_there_is_no_line),
		cmocka_unit_test(change_is_noticed),
		cmocka_unit_test(what_cannot_be_read_is_as_before),
		cmocka_unit_test(wrong_line_is_named),
	};
	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
