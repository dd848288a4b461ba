// SPDX-License-Identifier: Apache-2.0
#include "promoter/evidence-make.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "lib/base/limits.h"
#include "lib/os/clock.h"

#define WHEEL "foo-1.0-py3-none-any.whl"
#define PASSED "<testsuite><testcase name='a'/></testsuite>"
#define FAILED "<testsuite><testcase name='b'><failure message='no'/></testcase></testsuite>"

enum { BUILT = 1700000000, TESTED = BUILT + 60 };

static char folder[] = "test-evidence-make.XXXXXX";

// A file of the folder with this content and time, and NULL: none. Its path is to be freed.
static char *make_file(const char *name, const char *content, int64_t seconds)
{
	char *path = xasprintf("%s/%s", folder, name);
	FILE *f = fopen(path, "w");
	assert_non_null(f);
	fputs(content, f);
	fclose(f);
	const struct timespec times[2] = {{.tv_sec = (time_t)seconds}, {.tv_sec = (time_t)seconds, .tv_nsec = 999}};
	assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
	return path;
}

static int make_folder(void **state UNUSED)
{
	return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state UNUSED)
{
	CLEANUP(mem_free) char *command = xasprintf("rm -r '%s'", folder);
	return system(command);
}

static void reports_add_up(void **state UNUSED)
{
	CLEANUP(mem_free)
	char *one = make_file("one.xml", PASSED, TESTED), *two = make_file("two.xml", FAILED, TESTED + 9);
	CLEANUP(mem_free) char *wheel = make_file(WHEEL, "foo", BUILT);
	CLEANUP(evidence_release) struct evidence r = {0};
	struct err e = ERR_INIT;
	char hex[SHA256_HEX + 1] = "";
	const struct evidence_make from = {
		.kind = "unit",
		.platform = "debian-12-x86_64",
		.python = "3.12",
		.junit = (const char *const[]){one, two},
		.junits = 2,
		.wheel = (const char *const[]){wheel},
		.wheels = 1,
	};
	if (evidence_make(&from, &r, &e) < 0)
		fail_msg("%s", e.msg);
	assert_int_equal(r.passed, 1);
	assert_int_equal(r.failed, 1);
	assert_int_equal(r.skipped, 0);
	assert_int_equal(r.made, TESTED);
	assert_int_equal(r.failures, 1);
	assert_string_equal(r.failure[0].message, "no");
	assert_int_equal(r.wheels, 1);
	assert_string_equal(r.wheel[0].filename, WHEEL);
	hex_encode(r.wheel[0].sha256, SHA256_SIZE, hex);
	assert_string_equal(hex, "2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae");
	assert_null(r.overrides);
}

static void what_is_no_evidence_is_refused(void **state UNUSED)
{
	static const struct {
		const char *report, *wheel, *kind, *platform, *python;
		int64_t tested;
		enum err_kind error;
		const char *words;
	} rows[] = {
		{PASSED, WHEEL, "unit", "p", "3.12", TESTED, ERR_NONE, ""},
		{PASSED, WHEEL, "unit", "p", "3.12", BUILT, ERR_NONE, ""},
		{"", WHEEL, "unit", "p", "3.12", TESTED, ERR_INVALID, "r.xml: it is empty"},
		{"<testsuite/>", WHEEL, "unit", "p", "3.12", TESTED, ERR_INVALID, "r.xml: it has no tests"},
		{"<testsuite><testcase name='a'/>", WHEEL, "unit", "p", "3.12", TESTED, ERR_INVALID, "r.xml: "},
		{"{}", WHEEL, "unit", "p", "3.12", TESTED, ERR_INVALID, "r.xml: "},
		{PASSED, WHEEL, "unit", "p", "3.12", BUILT - 1, ERR_INVALID, "it is older than"},
		{PASSED, "foo.zip", "unit", "p", "3.12", TESTED, ERR_USAGE, "is not named like a wheel"},
		{PASSED, WHEEL, "Unit", "p", "3.12", TESTED, ERR_USAGE, "--kind: "},
		{PASSED, WHEEL, "unit", "a/b", "3.12", TESTED, ERR_USAGE, "--platform: "},
		{PASSED, WHEEL, "unit", "p", "cp312", TESTED, ERR_USAGE, "--python: "},
	};
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		CLEANUP(mem_free) char *report = make_file("r.xml", rows[i].report, rows[i].tested);
		CLEANUP(mem_free) char *wheel = make_file(rows[i].wheel, "foo", BUILT);
		CLEANUP(evidence_release) struct evidence r = {0};
		struct err e = ERR_INIT;
		struct evidence_make from = {rows[i].kind, rows[i].platform, rows[i].python,
			(const char *const[]){report}, (const char *const[]){wheel}, 1, 1, NULL, 0, false};
		int result = evidence_make(&from, &r, &e);
		if ((result < 0 ? e.kind : ERR_NONE) != rows[i].error || !strstr(e.msg, rows[i].words))
			fail_msg("row %zu: %s", i, e.msg);
	}
}

static void files_that_are_missing_are_named(void **state UNUSED)
{
	CLEANUP(mem_free) char *report = make_file("r.xml", PASSED, TESTED), *wheel = make_file(WHEEL, "foo", BUILT);
	CLEANUP(mem_free) char *gone = xasprintf("%s/gone-1-py3-none-any.whl", folder);
	const struct {
		const char *report, *wheel[2];
		size_t reports, wheels;
		const char *words;
	} rows[] = {
		{gone, {wheel}, 1, 1, "gone-1-py3-none-any.whl: No such file"},
		{folder, {wheel}, 1, 1, "no regular file"},
		{report, {gone}, 1, 1, "gone-1-py3-none-any.whl: No such file"},
		{report, {wheel}, 0, 1, "--junit FILE is missing"},
		{report, {wheel}, 1, 0, "--wheels FILE is missing"},
		{report, {wheel}, 1, LIMIT_EVIDENCE_WHEELS + 1, "more than 10000 wheels"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		CLEANUP(evidence_release) struct evidence r = {0};
		struct err e = ERR_INIT;
		const struct evidence_make from = {"unit", "p", "3.12", (const char *const[]){rows[i].report},
			rows[i].wheel, rows[i].reports, rows[i].wheels, NULL, 0, false};
		if (evidence_make(&from, &r, &e) == 0 || !strstr(e.msg, rows[i].words))
			fail_msg("row %zu: %s", i, e.msg);
	}
}

// A line with two kinds of tests may name the wheels for each.
static void wheel_that_is_given_twice_is_one(void **state UNUSED)
{
	CLEANUP(mem_free) char *report = make_file("r.xml", PASSED, TESTED), *wheel = make_file(WHEEL, "foo", BUILT);
	CLEANUP(evidence_release) struct evidence r = {0};
	const struct evidence_wheel other = {.filename = WHEEL};
	struct err e = ERR_INIT;
	struct evidence_make from = {"unit", "p", "3.12", (const char *const[]){report}, (const char *const[]){wheel, wheel}, 1, 2,
		NULL, 0, false};
	assert_int_equal(evidence_make(&from, &r, &e), 0);
	assert_int_equal(r.wheels, 1);
	assert_string_equal(r.wheel[0].filename, WHEEL);
	from.named = &other;
	from.nameds = 1;
	CLEANUP(evidence_release) struct evidence none = {0};
	assert_int_equal(evidence_make(&from, &none, &e), -1);
	assert_int_equal(e.kind, ERR_USAGE);
	assert_non_null(strstr(e.msg, "two files with other bytes have the name " WHEEL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reports_add_up),
		cmocka_unit_test(what_is_no_evidence_is_refused),
		cmocka_unit_test(files_that_are_missing_are_named),
		cmocka_unit_test(wheel_that_is_given_twice_is_one),
	};
	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
