// SPDX-License-Identifier: Apache-2.0
#include "builder/missing/branch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "lib/base/limits.h"

#define ALWAYS UINT64_MAX

enum { NOW = 1795000000 }; // 2026-11-18T17:46:40Z

// The tests run in a folder of their own, with relative paths.
static char folder[] = "test-branch.XXXXXX";
static const char *const file_names[] = {"a", "b", "c", "d", "sub/a", "sub/b", "sub/c"};

static int enter_folder(void **state UNUSED)
{
	return !mkdtemp(folder) || chdir(folder) < 0 || mkdir("sub", 0755) < 0;
}

static int leave_folder(void **state UNUSED)
{
	return rmdir("sub") < 0 || chdir("..") < 0 || rmdir(folder) < 0;
}

static struct config config;

static int make_config(void **state UNUSED)
{
	config_init(&config);
	return 0;
}

static int remove_files(void **state UNUSED)
{
	config_release(&config);
	for (size_t i = 0; i < ARRAY_SIZE(file_names); i++)
		unlink(file_names[i]);
	return 0;
}

static void put_file(const char *name, const char *text)
{
	FILE *f = fopen(name, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static void set_key(const char *section, const char *key, const char *value)
{
	struct err e = ERR_INIT;
	if (value && config_set(&config, section, key, value, &e) < 0)
		fail_msg("%s", e.msg);
}

// Reads one branch with these values; NULL: not set.
static int read_one(const char *constraints, const char *requirements, struct branches *out, struct err *e)
{
	config_release(&config);
	config_init(&config);
	set_key("branch x", "constraints", constraints);
	set_key("branch x", "requirements", requirements);
	return branches_read(&config, NULL, NOW, out, e);
}

static void must_read(const char *constraints, const char *requirements, struct branches *out)
{
	struct err e = ERR_INIT;
	if (read_one(constraints, requirements, out, &e) < 0)
		fail_msg("%s", e.msg);
}

static void must_refuse(const char *constraints, const char *requirements, const char *message)
{
	struct err e = ERR_INIT;
	struct branches b;
	assert_int_equal(read_one(constraints, requirements, &b, &e), -1);
	assert_string_equal(e.msg, message);
	assert_int_equal(e.kind, ERR_USAGE);
}

// What the branch wants, as text: "project specifier micros flags source", one a line.
static char *wants_of(const struct branches *all, const char *python, const char *arch)
{
	struct err e = ERR_INIT;
	struct python p;
	size_t count;
	CLEANUP(arena_release) struct arena text = {0};
	CLEANUP(mem_free) struct branch_want *want = NULL;
	struct buf out;
	buf_init(&out, 1 << 20);
	assert_int_equal(python_parse(str_from(python), &p, &e), 0);
	if (branch_wants(all->branch, &(struct machine){.arch = arch}, &p, &text, &want, &count, &e) < 0)
		fail_msg("%s", e.msg);
	for (size_t i = 0; i < count; i++)
		buf_printf(&out, "%s [%s] %jx%s%s%s %s\n", want[i].project, want[i].specifier,
			(uintmax_t)want[i].micros, want[i].is_pinned ? " pinned" : "", want[i].allows_pre ? " pre" : "",
			want[i].has_url ? " url" : "", want[i].source);
	return buf_steal(&out);
}

static void assert_wants(const struct branches *all, const char *expected)
{
	CLEANUP(mem_free) char *wants = wants_of(all, "3.11", "x86_64");
	assert_string_equal(wants ? wants : "", expected);
}

static void pins_of_constraints_are_wanted(void **state UNUSED)
{
	CLEANUP(branches_release) struct branches b;
	put_file("a", "# a comment\nPint===0.17;python_version=='3.6'\nPint===0.18;python_version=='3.8'\n"
		      "Foo.Bar===1.0 # why\nnewer>=2\nstar==1.*\nlater==2.0 \\\n  --hash=sha256:00\n"
		      "file @ https://a.example/file.whl\n");
	must_read("a", NULL, &b);
	assert_int_equal(b.count, 1);
	assert_string_equal(b.branch[0].name, "x");
	assert_int_equal(b.branch[0].lines, 7);
	assert_false(b.branch[0].has_requirements || b.branch[0].is_over);
	assert_wants(&b, "file [] ffffffffffffffff url a:9\n"
			 "foo-bar [===1.0] ffffffffffffffff pinned a:4\n"
			 "later [==2.0] ffffffffffffffff pinned a:7\n"
			 "pint [] 0 a:2\n");
}

static void requirements_are_held_to_constraints(void **state UNUSED)
{
	CLEANUP(branches_release) struct branches b;
	put_file("a", "one===1.0\ntwo>=2\nthree===3.0\n");
	put_file("b", "one>=0.9\none>=0.9\ntwo[x]<4,!=3; sys_platform == 'linux'\nfour\nfive; os_name == 'nt'\n"
		      "-i https://a.example/simple\n");
	must_read("a", "b", &b);
	assert_true(b.branch[0].has_requirements);
	assert_wants(&b, "five [] 0 b:5\n"
			 "four [] ffffffffffffffff b:4\n"
			 "one [===1.0,>=0.9] ffffffffffffffff pinned b:1\n"
			 "two [>=2,<4,!=3] ffffffffffffffff b:3\n");
}

// Micro versions on which the same lines hold are one want.
static void micro_versions_are_told_apart(void **state UNUSED)
{
	CLEANUP(branches_release) struct branches b;
	put_file("a", "one==1; python_full_version < '3.11.4'\none==2; python_full_version >= '3.11.4'\n"
		      "one>=1; python_full_version < '3.11.1'\ntwo==1; python_full_version < '3.11.2'\n"
		      "same==1; python_full_version < '3.11.4'\nsame==1; python_full_version >= '3.11.2'\n"
		      "three==1; platform_machine == 'aarch64'\nfour==1; implementation_name == 'pypy'\n");
	must_read("a", NULL, &b);
	assert_wants(&b, "four [] 0 a:8\n"
			 "one [==1,>=1] 1 pinned a:1\n"
			 "one [==1] e pinned a:1\n"
			 "one [==2] fffffffffffffff0 pinned a:2\n"
			 "same [==1] ffffffffffffffff pinned a:5\n"
			 "three [] 0 a:7\n"
			 "two [==1] 3 pinned a:4\n");
	CLEANUP(mem_free) char *elsewhere = wants_of(&b, "pp310", "aarch64");
	assert_string_equal(elsewhere, "four [==1] ffffffffffffffff pinned a:8\n"
				       "one [==1,>=1] ffffffffffffffff pinned a:1\n"
				       "same [==1] ffffffffffffffff pinned a:5\n"
				       "three [==1] ffffffffffffffff pinned a:7\n"
				       "two [==1] ffffffffffffffff pinned a:4\n");
}

// -r inside constraints leads to requirements, -c inside requirements to constraints.
static void files_lead_to_files(void **state UNUSED)
{
	CLEANUP(branches_release) struct branches b;
	put_file("sub/a", "-r b\none===1\n--pre\n");
	put_file("sub/b", "-c ../c\none\ntwo\n");
	put_file("c", "two==2\n-c sub/a\n");
	must_refuse("sub/a", NULL,
		"[branch x] constraints: sub/a:1: sub/b:1: sub/../c:2: sub/../sub/a:1: "
		"sub/../sub/b:1: sub/../sub/../c:2: sub/../sub/../sub/a:1: sub/../sub/../sub/b:1: "
		"sub/../sub/../sub/../c:2: sub/../sub/../sub/../sub/a:1: "
		"sub/../sub/../sub/../sub/b:1: sub/../sub/../sub/../sub/../c:2: "
		"sub/../sub/../sub/../sub/../sub/a:1: sub/../sub/../sub/../sub/../sub/b:1: "
		"sub/../sub/../sub/../sub/../sub/../c:2: "
		"sub/../sub/../sub/../sub/../sub/../sub/a:1: files include each other more than 16 "
		"deep");
	put_file("c", "two==2\n");
	must_read("sub/a", NULL, &b);
	assert_true(b.branch[0].allows_pre && b.branch[0].has_requirements);
	assert_int_equal(b.branch[0].files, 3);
	assert_string_equal(b.branch[0].file[2].path, "sub/../c");
	assert_string_equal(b.branch[0].file[2].kind, "constraints");
	const char *const text[] = {"-r b\none===1\n--pre\n", "-c ../c\none\ntwo\n", "two==2\n"};
	for (size_t i = 0; i < ARRAY_SIZE(text); i++) {
		uint8_t sha256[SHA256_SIZE];
		digest_sha256(str_from(text[i]), sha256);
		assert_memory_equal(b.branch[0].file[i].sha256, sha256, SHA256_SIZE);
	}
	assert_wants(&b, "one [===1] ffffffffffffffff pinned pre sub/b:2\n"
			 "two [==2] ffffffffffffffff pinned pre sub/b:3\n");
}

static void a_file_is_read_once_as_each_kind(void **state UNUSED)
{
	CLEANUP(branches_release) struct branches b;
	put_file("a", "one==1\n-c b\n-r b\n-r b\n");
	put_file("b", "two==2\n");
	must_read("b a b", "a a", &b);
	assert_int_equal(b.branch[0].lines, 4);
	assert_wants(&b, "one [==1] ffffffffffffffff pinned a:1\ntwo [==2] ffffffffffffffff pinned b:1\n");
}

static void globs_are_in_the_order_of_names(void **state UNUSED)
{
	CLEANUP(branches_release) struct branches b;
	put_file("sub/b", "one==2\n");
	put_file("sub/a", "one==1\n");
	put_file("sub/c", "one==3\n");
	must_read("sub/[ab]", NULL, &b);
	assert_wants(&b, "one [==1,==2] ffffffffffffffff pinned sub/a:1\n");
	must_refuse("sub/x*", NULL, "[branch x] constraints: no file matches sub/x*");
	must_refuse("absent/*.txt", NULL, "[branch x] constraints: no file matches absent/*.txt");
}

static void bad_files_are_named(void **state UNUSED)
{
	static const struct {
		const char *text, *message;
	} table[] = {
		{"", "[branch x] constraints: a: it has no line"},
		{"# one==1\n\n", "[branch x] constraints: a: it has no line"},
		{"one>=1\n--pre\n", "[branch x]: its files have neither a requirement nor a pinned constraint nor a locked version"},
		{"one==1\none=1\n",
			"[branch x] constraints: a:2: \"=1\" is not a specifier (such as ==1.2 or >=1.2,<2)"},
		{"one[x]==1\n", "[branch x] constraints: a:1: a constraint cannot have extras"},
		{"one==1; python = '3'\n",
			"[branch x] constraints: a:1: the marker has \"python = '3'\" where a variable or a quoted text is "
			"expected"},
		{"one==1\n-r a\n", "[branch x] constraints: a:2: a includes itself"},
		{"-r missing\n", "[branch x] constraints: a:1: missing: No such file or directory"},
		{"-c https://a.example/b\n",
			"[branch x] constraints: a:1: \"https://a.example/b\" is a URL; only files are read"},
		{"<html>\n", "[branch x] constraints: a:1: the line does not begin with a project name"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		put_file("a", table[i].text);
		must_refuse("a", NULL, table[i].message);
	}
	must_refuse("missing", NULL, "[branch x] constraints: missing: No such file or directory");
	must_refuse(NULL, "missing", "[branch x] requirements: missing: No such file or directory");
}

// Exceeds LIMIT_REQUIREMENTS. Most of the file is a hole.
static void a_file_that_is_too_large_is_named(void **state UNUSED)
{
	put_file("a", "x==1\n");
	assert_int_equal(truncate("a", LIMIT_REQUIREMENTS + (off_t)1), 0);
	must_refuse("a", NULL, "[branch x] constraints: a: larger than 16777216 bytes");
}

// One file in many spellings is many files.
// Exceeds LIMIT_BRANCH_FILES, LIMIT_BRANCH_TEXT.
static void files_are_limited(void **state UNUSED)
{
	struct err e = ERR_INIT;
	struct branches b;
	CLEANUP(buf_release) struct buf text;
	buf_init(&text, 1 << 26);
	for (int i = 0; i <= LIMIT_BRANCH_FILES; i++)
		buf_puts(&text, "-r b\n");
	put_file("a", text.data);
	put_file("b", "x==1\n");
	assert_int_equal(read_one("a", NULL, &b, &e), -1);
	assert_non_null(strstr(e.msg, "the branch names more than 1000 files"));
	buf_clear(&text);
	while (text.len < 1 << 23)
		buf_puts(&text, "# nothing\n");
	buf_puts(&text, "x==1\n");
	put_file("b", text.data);
	put_file("a", "-r b\n-r ./b\n-r .//b\n-r ././b\n-r ././/b\n-r .//./b\n-r ./././b\n-r .///b\n-r .////b\n");
	assert_int_equal(read_one("a", NULL, &b, &e), -1);
	assert_non_null(strstr(e.msg, "have more than 64 MB"));
}

// Neither waited for, as a pipe without a writer would be, nor read without end.
static void only_regular_files_are_read(void **state UNUSED)
{
	alarm(20);
	assert_int_equal(mkfifo("a", 0600), 0);
	must_refuse("a", NULL, "[branch x] constraints: a: no regular file");
	put_file("b", "-r a\n");
	must_refuse(NULL, "b", "[branch x] requirements: b:1: a: no regular file");
	must_refuse("/dev/zero", NULL, "[branch x] constraints: /dev/zero: no regular file");
	must_refuse("sub", NULL, "[branch x] constraints: sub: no regular file");
	alarm(0);
}

static void branches_are_chosen_by_glob(void **state UNUSED)
{
	struct branches b;
	struct err e = ERR_INIT;
	set_key("branch stable-1", "constraints", "a");
	set_key("branch master", "constraints", "missing");
	set_key("branch stable-2", "constraints", "a");
	put_file("a", "one==1\n");
	assert_int_equal(branches_read(&config, "stable-*", NOW, &b, &e), 0);
	assert_int_equal(b.count, 2);
	assert_string_equal(b.branch[1].name, "stable-2");
	branches_release(&b);
	assert_int_equal(branches_read(&config, "old", NOW, &b, &e), -1);
	assert_string_equal(e.msg, "no [branch] is named old; there are stable-1, master, stable-2");
	assert_int_equal(branches_read(&(struct config){.branches = NULL}, NULL, NOW, &b, &e), -1);
	assert_string_equal(e.msg, "the configuration has no [branch]; [branch NAME] with requirements or constraints says what is wanted");
	assert_int_equal(e.kind, ERR_USAGE);
}

// The last day counts to its end in UTC. After that the files need not be there.
static void the_last_day_is_included(void **state UNUSED)
{
	const int64_t end = 1795392000; // 2026-11-23T00:00:00Z
	struct branches b;
	struct err e = ERR_INIT;
	set_key("branch x", "constraints", "a");
	set_key("branch x", "until", "2026-11-22");
	put_file("a", "one==1\n");
	assert_int_equal(branches_read(&config, NULL, end - 1, &b, &e), 0);
	assert_false(b.branch[0].is_over);
	assert_wants(&b, "one [==1] ffffffffffffffff pinned a:1\n");
	branches_release(&b);
	unlink("a");
	assert_int_equal(branches_read(&config, NULL, end, &b, &e), 0);
	assert_true(b.branch[0].is_over);
	assert_wants(&b, "");
	branches_release(&b);
	assert_int_equal(branches_read(&config, NULL, end - 1, &b, &e), -1);
}

static bool has_python(const struct branch *b, const char *text)
{
	struct python p;
	struct err e = ERR_INIT;
	assert_int_equal(python_parse(str_from(text), &p, &e), 0);
	return branch_has_python(b, &p);
}

static void platforms_and_pythons(void **state UNUSED)
{
	set_key("branch x", "platforms", "ubuntu-2?.04-* debian-12-x86_64");
	set_key("branch x", "pythons", "3.12 3.13t  pp311");
	set_key("branch y", "constraints", "a");
	const struct branch some = {.config = &config.branches[0]}, all = {.config = &config.branches[1]};
	assert_true(branch_has_platform(&some, "ubuntu-22.04-aarch64"));
	assert_true(branch_has_platform(&some, "debian-12-x86_64"));
	assert_false(branch_has_platform(&some, "debian-12-aarch64"));
	assert_true(branch_has_platform(&all, "debian-12-aarch64"));
	assert_true(has_python(&some, "3.12") && has_python(&some, "3.13t") && has_python(&some, "pp311"));
	assert_false(has_python(&some, "3.13") || has_python(&some, "3.11") || has_python(&some, "3.14t"));
	assert_true(has_python(&all, "3.14t"));
}

// Writes n times a project with a specifier, each with a number of four digits, then a last line.
static void put_lines(size_t n, const char *project, const char *specifier, const char *last)
{
	FILE *f = fopen("a", "w");
	assert_non_null(f);
	for (size_t i = 0; i < n; i++)
		fprintf(f, "%s%zu%s%zu\n", project, *specifier == '=' ? i : 0, specifier, 1000 + i % 9000);
	fputs(last, f);
	fclose(f);
}

// Exceeds LIMIT_BRANCH_LINES, LIMIT_BRANCH_SPECIFIERS.
static void limits(void **state UNUSED)
{
	CLEANUP(branches_release) struct branches b, many;
	put_lines(LIMIT_BRANCH_LINES, "p", "==", "");
	must_read("a", NULL, &many);
	assert_int_equal(many.branch[0].lines, LIMIT_BRANCH_LINES);
	put_lines(LIMIT_BRANCH_LINES, "p", "==", "one==1\n");
	must_refuse("a", NULL, "[branch x] constraints: a:131073: the branch has more than 131072 lines");
	enum { FITTING = LIMIT_BRANCH_SPECIFIERS / 7 }; // ">=1000" and a comma
	put_lines(FITTING, "p", ">=", "p0==1\n");
	must_refuse("a", NULL, "[branch x]: the specifiers of p0 have more than 4096 bytes");
	put_lines(FITTING - 1, "p", ">=", "p0==1\n");
	must_read("a", NULL, &b);
	CLEANUP(mem_free) char *wants = wants_of(&b, "3.11", "x86_64");
	assert_true(strlen(wants) > 7 * (FITTING - 1));
}

// Each file is far below LIMIT_REQUIREMENTS.
static void text_is_limited(void **state UNUSED)
{
	CLEANUP(buf_release) struct buf patterns, line;
	buf_init(&line, 1 << 20);
	buf_init(&patterns, 1 << 20);
	buf_puts(&line, "one @ https://a.example/ ; os_name == 'posix'");
	for (int i = 0; i < LIMIT_MARKER - 100; i++)
		buf_putc(&line, ' ');
	buf_puts(&line, " or os_name == 'nt'\n");
	FILE *f = fopen("a", "w");
	assert_non_null(f);
	for (int i = 0; i < 3000; i++)
		fputs(line.data, f);
	fclose(f);
	for (int i = 0; i < 6; i++) {
		buf_puts(&patterns, i ? " " : "");
		for (int k = 0; k < i; k++)
			buf_puts(&patterns, "./");
		buf_puts(&patterns, "a");
	}
	struct err e = ERR_INIT;
	struct branches b;
	assert_int_equal(read_one(NULL, patterns.data, &b, &e), -1);
	assert_non_null(strstr(e.msg, ": the files of all branches have more than 64 MB"));
}

// Exceeds LIMIT_BRANCH_DEPTH.
static void nesting_is_limited(void **state UNUSED)
{
	CLEANUP(branches_release) struct branches b;
	char name[LIMIT_BRANCH_DEPTH + 2][32];
	for (int i = 0; i < LIMIT_BRANCH_DEPTH + 1; i++) {
		snprintf(name[i], sizeof(name[i]), "deep%d", i);
		FILE *f = fopen(name[i], "w");
		assert_non_null(f);
		fprintf(f, "one==1\n%s%d\n", i < LIMIT_BRANCH_DEPTH ? "-c deep" : "#", i + 1);
		fclose(f);
	}
	must_read("deep1", NULL, &b);
	struct err e = ERR_INIT;
	struct branches deeper;
	assert_int_equal(read_one("deep0", NULL, &deeper, &e), -1);
	assert_non_null(strstr(e.msg, "deep15:2: files include each other more than 16 deep"));
	for (int i = 0; i < LIMIT_BRANCH_DEPTH + 1; i++)
		unlink(name[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(only_regular_files_are_read, make_config, remove_files),
		cmocka_unit_test_setup_teardown(a_file_that_is_too_large_is_named, make_config, remove_files),
		cmocka_unit_test_setup_teardown(files_are_limited, make_config, remove_files),
		cmocka_unit_test_setup_teardown(pins_of_constraints_are_wanted, make_config, remove_files),
		cmocka_unit_test_setup_teardown(requirements_are_held_to_constraints, make_config, remove_files),
		cmocka_unit_test_setup_teardown(micro_versions_are_told_apart, make_config, remove_files),
		cmocka_unit_test_setup_teardown(files_lead_to_files, make_config, remove_files),
		cmocka_unit_test_setup_teardown(a_file_is_read_once_as_each_kind, make_config, remove_files),
		cmocka_unit_test_setup_teardown(globs_are_in_the_order_of_names, make_config, remove_files),
		cmocka_unit_test_setup_teardown(bad_files_are_named, make_config, remove_files),
		cmocka_unit_test_setup_teardown(branches_are_chosen_by_glob, make_config, remove_files),
		cmocka_unit_test_setup_teardown(the_last_day_is_included, make_config, remove_files),
		cmocka_unit_test_setup_teardown(platforms_and_pythons, make_config, remove_files),
		cmocka_unit_test_setup_teardown(limits, make_config, remove_files),
		cmocka_unit_test_setup_teardown(text_is_limited, make_config, remove_files),
		cmocka_unit_test_setup_teardown(nesting_is_limited, make_config, remove_files),
	};
	return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
