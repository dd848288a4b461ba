// SPDX-License-Identifier: Apache-2.0
// The newest entries of an audit log about a project.
#include "lib/state/access/audit-recent.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "lib/base/limits.h"

#define ENTRY(time, file)                                                                                              \
	"{\"time\":\"" time "\",\"who\":\"x\",\"action\":\"upload\",\"project\":\"foo\",\"file\":\"" file "\"}\n"

static char path[] = "audit-recent.XXXXXX";

static void write_log(const char *before, size_t times, const char *after)
{
	FILE *f = fopen(path, "w");
	assert_non_null(f);
	for (size_t i = 0; i < times; i++)
		fputs(before, f);
	fputs(after, f);
	assert_int_equal(fclose(f), 0);
}

static int add_entry(void *ctx, const struct audit_entry *a, const char *time, struct err *e UNUSED)
{
	buf_printf(ctx, "%s %s %s;", time, a->who, a->file ? a->file : "-");
	return 0;
}

static void assert_entries(const char *project, bool is_whole, const char *expected)
{
	struct err e = ERR_INIT;
	bool was_whole = !is_whole;
	CLEANUP(buf_release) struct buf out;
	buf_init(&out, 1 << 20);
	buf_puts(&out, "");
	assert_int_equal(audit_recent(&(struct audit_query){.path = path, .project = project, .most = LIMIT_AUDIT_READ}, add_entry, &out, &was_whole, &e), 0);
	assert_int_equal(was_whole, is_whole);
	assert_string_equal(out.data, expected);
}

static void entries_of_the_project_are_reported(void **state UNUSED)
{
	write_log(ENTRY("1", "a"), 1, ENTRY("2", "b") "{\"time\":\"3\",\"project\":\"foo-bar\"}\n" ENTRY("4", "c"));
	assert_entries("foo", true, "1 x a;2 x b;4 x c;");
	assert_entries("bar", true, "");
}

static void lines_that_are_no_entries_are_left_out(void **state UNUSED)
{
	write_log("\"project\":\"foo\"\n[[[[\"project\":\"foo\"\n\n{\"project\":\"foo\"}\n", 1,
		"{\"time\":\"1\",\"reason\":\"\\\"project\\\":\\\"foo\\\"\",\"x\":\"\"project\":\"foo\"}\n" ENTRY("2",
			"a") "{\"time\":\"3\",\"project\":\"foo\",\"file\":");
	assert_entries("foo", true, "2 x a;");
}

// Exceeds LIMIT_AUDIT_READ.
static void only_the_end_of_a_long_log_is_read(void **state UNUSED)
{
	static const char line[] = "{\"time\":\"0\",\"project\":\"another\"}\n";
	FILE *f = fopen(path, "w");
	assert_non_null(f);
	fputs(ENTRY("1", "old"), f);
	for (size_t bytes = 0; bytes < LIMIT_AUDIT_READ; bytes += sizeof(line) - 1)
		fputs(line, f);
	fputs(ENTRY("2", "new"), f);
	assert_int_equal(fclose(f), 0);
	assert_entries("foo", false, "2 x new;");
}

static void move_log(unsigned number)
{
	CLEANUP(mem_free) char *moved = xasprintf("%s.%u", path, number);
	assert_int_equal(rename(path, moved), 0);
}

static void find_entries(const struct audit_query *q, const char *expected)
{
	struct err e = ERR_INIT;
	bool is_whole;
	CLEANUP(buf_release) struct buf out;
	buf_init(&out, 1 << 20);
	buf_puts(&out, "");
	assert_int_equal(audit_recent(q, add_entry, &out, &is_whole, &e), 0);
	assert_true(is_whole);
	assert_string_equal(out.data, expected);
}

// Also between two changes, when nothing has the log's name.
static void moved_files_are_read_too(void **state UNUSED)
{
	write_log(ENTRY("1", "a"), 1, "");
	move_log(2);
	write_log(ENTRY("2", "b"), 1, "{\"time\":\"3\",\"who\":\"y\"}\n");
	move_log(1);
	assert_entries("foo", true, "1 x a;2 x b;");
	write_log(ENTRY("4", "a"), 1, "");
	assert_entries("foo", true, "1 x a;2 x b;4 x a;");
	find_entries(&(struct audit_query){.path = path}, "1 x a;2 x b;3 y -;4 x a;");
	find_entries(&(struct audit_query){.path = path, .file = "a"}, "1 x a;4 x a;");
	find_entries(&(struct audit_query){.path = path, .since = "2"}, "2 x b;3 y -;4 x a;");
}

// Of more files the newest are read, and it is told.
// Exceeds LIMIT_AUDIT_FILES.
static void of_too_many_files_the_newest_are_read(void **state UNUSED)
{
	struct err e = ERR_INIT;
	bool is_whole = true;
	CLEANUP(buf_release) struct buf out;
	buf_init(&out, 1 << 20);
	for (unsigned i = LIMIT_AUDIT_FILES; i > 0; i--) {
		write_log(i == LIMIT_AUDIT_FILES ? ENTRY("0", "oldest") : "", 1, i == 1 ? ENTRY("1", "newest") : "\n");
		move_log(i);
	}
	write_log(ENTRY("2", "now"), 1, "");
	const struct audit_query q = {.path = path};
	assert_int_equal(audit_recent(&q, add_entry, &out, &is_whole, &e), 0);
	assert_false(is_whole);
	assert_string_equal(out.data, "1 x newest;2 x now;");
}

static int remove_moved(void **state UNUSED)
{
	CLEANUP(mem_free) char *command = xasprintf("rm -f '%s'.*", path);
	return system(command);
}

static void a_log_that_is_missing_has_no_entries(void **state UNUSED)
{
	assert_int_equal(unlink(path), 0);
	assert_entries("foo", true, "");
}

static int make_log(void **state UNUSED)
{
	int fd = mkstemp(path);
	return fd < 0 ? -1 : close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(entries_of_the_project_are_reported),
		cmocka_unit_test(lines_that_are_no_entries_are_left_out),
		cmocka_unit_test(only_the_end_of_a_long_log_is_read),
		cmocka_unit_test_teardown(moved_files_are_read_too, remove_moved),
		cmocka_unit_test_teardown(of_too_many_files_the_newest_are_read, remove_moved),
		cmocka_unit_test(a_log_that_is_missing_has_no_entries),
	};
	return cmocka_run_group_tests(tests, make_log, NULL);
}
