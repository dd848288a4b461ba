// SPDX-License-Identifier: Apache-2.0
#include "auditor/rebuild/rebuild-set.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "lib/base/limits.h"
#include "lib/base/mem.h"
#include "lib/os/clock.h"

static char path[] = "/tmp/wheelcache-rebuild-set-XXXXXX";

static int make_file(void **state UNUSED)
{
	int fd = mkstemp(path);
	return fd < 0 ? -1 : close(fd);
}

static int remove_file(void **state UNUSED)
{
	return unlink(path);
}

static void write_rows(const char *rows)
{
	FILE *file = fopen(path, "we");
	assert_non_null(file);
	fprintf(file, "{\"platforms\": [], \"rows\": [%s]}", rows);
	assert_int_equal(fclose(file), 0);
}

#define ROW(platform, file, state, build)                                                                              \
	"{\"platform\": \"" platform "\", \"filename\": \"" file "\", \"state\": \"" state                             \
	"\", \"why\": \"because\", \"build\": " build "}"

static void test_what_is_to_be_rebuilt_is_found(void **state UNUSED)
{
	struct err e = ERR_INIT;
	struct rebuild_wanted found;
	CLEANUP(rebuild_set_cleanup) struct rebuild_set *s = NULL;
	CLEANUP(version_release) struct version one = {0}, two = {0};
	assert_int_equal(version_parse(STR("1.0.0"), &one, &e), 0);
	assert_int_equal(version_parse(STR("2"), &two, &e), 0);
	write_rows(ROW("b", "My_Demo-1.0-py3-none-any.whl", "symbol-gone", "1") ","            //
		ROW("a", "my_demo-1.0-3-cp311-cp311-linux_x86_64.whl", "soname-gone", "4") "," //
		ROW("a", "my_demo-1.0-cp312-cp312-linux_x86_64.whl", "version-gone", "2") ","  //
		ROW("a", "my_demo-2-cp312-cp312-linux_x86_64.whl", "unknown", "null") ","      //
		ROW("a", "other-1-py3-none-any.whl", "fits", "null"));
	assert_int_equal(rebuild_set_read(path, &s, &e), 0);
	assert_true(rebuild_set_has(s, "b", "my-demo", "My_Demo-1.0-py3-none-any.whl"));
	assert_false(rebuild_set_has(s, "a", "my-demo", "My_Demo-1.0-py3-none-any.whl"));
	assert_true(rebuild_set_has(s, "a", "my-demo", "my_demo-1.0-cp312-cp312-linux_x86_64.whl"));
	assert_false(rebuild_set_has(s, "a", "my-demo", "my_demo-2-cp312-cp312-linux_x86_64.whl"));
	assert_false(rebuild_set_has(s, "a", "other", "other-1-py3-none-any.whl"));
	assert_false(rebuild_set_has(NULL, "a", "other", "other-1-py3-none-any.whl"));
	assert_true(rebuild_set_find(s, "a", "my-demo", &one, &found));
	assert_int_equal(found.build, 4);
	assert_string_equal(found.filename, "my_demo-1.0-3-cp311-cp311-linux_x86_64.whl");
	assert_string_equal(found.why, "because");
	assert_false(rebuild_set_find(s, "a", "my-demo", &two, &found));
	assert_false(rebuild_set_find(NULL, "a", "my-demo", &one, &found));
}

static void test_a_number_that_is_none_is_refused(void **state UNUSED)
{
	static const char *const numbers[] = {"0", "-1", "\"1\"", "1.5", "1073741825", "null"};
	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
		struct err e = ERR_INIT;
		CLEANUP(rebuild_set_cleanup) struct rebuild_set *s = NULL;
		CLEANUP(mem_free)
		char *row = xasprintf("{\"platform\": \"a\", \"filename\": \"d-1-py3-none-any.whl\", \"state\": "
				      "\"soname-gone\", \"build\": %s}",
			numbers[i]);
		write_rows(row);
		assert_int_equal(rebuild_set_read(path, &s, &e), -1);
		assert_int_equal(e.kind, ERR_INVALID);
		assert_non_null(strstr(e.msg, "row 1: build"));
	}
}

// Exceeds LIMIT_REBUILDS.
static void test_a_document_that_is_too_large_is_refused(void **state UNUSED)
{
	struct err e = ERR_INIT;
	CLEANUP(rebuild_set_cleanup) struct rebuild_set *s = NULL;
	write_rows("");
	assert_int_equal(truncate(path, LIMIT_REBUILDS + (off_t)1), 0);
	assert_int_equal(rebuild_set_read(path, &s, &e), -1);
	assert_int_equal(e.kind, ERR_LIMIT);
}

// What a builder sends is what a server reads: the rows of one platform, or of one project there.
static void test_what_is_written_is_read(void **state UNUSED)
{
	static const struct {
		const char *platform, *project, *text;
	} rows[] = {
		{"a", NULL,
			"{\"platforms\": [], \"rows\": [" ROW("a", "demo-1-2-py3-none-any.whl", "soname-gone",
				"3") ", " //
			ROW("a", "other-1-py3-none-any.whl", "symbol-gone", "1") "]}\n"},
		{"a", "other",
			"{\"platforms\": [], \"rows\": [" ROW("a", "other-1-py3-none-any.whl", "symbol-gone",
				"1") "]}\n"},
		{"c", NULL, "{\"platforms\": [], \"rows\": []}\n"},
	};
	struct err e = ERR_INIT;
	CLEANUP(rebuild_set_cleanup) struct rebuild_set *s = NULL;
	write_rows(ROW("a", "demo-1-2-py3-none-any.whl", "soname-gone", "3") "," //
		ROW("a", "other-1-py3-none-any.whl", "symbol-gone", "1") ","     //
		ROW("b", "other-1-py3-none-any.whl", "symbol-gone", "1"));
	assert_int_equal(rebuild_set_read(path, &s, &e), 0);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		CLEANUP(buf_release) struct buf text;
		CLEANUP(rebuild_set_cleanup) struct rebuild_set *again = NULL;
		buf_init(&text, 4096);
		assert_int_equal(rebuild_set_write(s, rows[i].platform, rows[i].project, &text, &e), 0);
		assert_string_equal(text.data, rows[i].text);
		assert_int_equal(rebuild_set_parse(buf_view(&text), &again, &e), 0);
	}
}

// Eight megabytes of JSON take long under valgrind, so the test is skipped there.
// Exceeds LIMIT_REBUILDS_SENT, LIMIT_REBUILD_VALUES.
static void test_what_is_sent_is_limited(void **state UNUSED)
{
	if (getenv("UNDER_VALGRIND"))
		skip();
	struct err e = ERR_INIT;
	struct rebuild_set *s = NULL;
	CLEANUP(buf_release) struct buf text;
	buf_init(&text, 2 * LIMIT_REBUILDS_SENT);
	buf_puts(&text, "{\"platforms\": [], \"rows\": [0");
	for (size_t i = 0; i < LIMIT_REBUILD_VALUES; i++)
		buf_puts(&text, ",0");
	buf_puts(&text, "]}");
	assert_int_equal(rebuild_set_parse(buf_view(&text), &s, &e), -1);
	assert_int_equal(e.kind, ERR_LIMIT);
	assert_string_equal(e.msg, "the list of rebuilds has more than 262144 values");
	while (text.len <= LIMIT_REBUILDS_SENT)
		buf_puts(&text, "                                                                ");
	e = (struct err)ERR_INIT;
	assert_int_equal(rebuild_set_parse(buf_view(&text), &s, &e), -1);
	assert_string_equal(e.msg, "the list of rebuilds has more than 8388608 bytes");
	struct rebuild_set *large = NULL;
	buf_clear(&text);
	for (size_t i = 0; text.len <= LIMIT_REBUILDS_SENT; i++)
		buf_printf(&text, "%s" ROW("a", "demo-%zu-py3-none-any.whl", "soname-gone", "1"), i ? "," : "", i);
	write_rows(text.data);
	buf_clear(&text);
	e = (struct err)ERR_INIT;
	assert_int_equal(rebuild_set_read(path, &large, &e), 0);
	assert_int_equal(rebuild_set_write(large, "a", NULL, &text, &e), -1);
	assert_string_equal(e.msg, "the list of rebuilds has more than 8388608 bytes");
	rebuild_set_free(large);
}

// Each question is answered by a binary search: of all rows for all rows it took minutes.
static void test_many_rows_are_found_quickly(void **state UNUSED)
{
	enum { ROWS = LIMIT_REBUILD_VALUES / 8 };
	struct err e = ERR_INIT;
	struct rebuild_wanted found;
	CLEANUP(rebuild_set_cleanup) struct rebuild_set *s = NULL;
	CLEANUP(buf_release) struct buf text;
	int64_t from = clock_thread_ms();
	buf_init(&text, LIMIT_REBUILDS_SENT);
	buf_puts(&text, "{\"platforms\": [], \"rows\": [");
	for (int i = 0; i < ROWS; i++)
		buf_printf(&text, "%s" ROW("a", "demo-%d-py3-none-any.whl", "soname-gone", "1"), i ? "," : "", i);
	buf_puts(&text, "]}");
	assert_int_equal(rebuild_set_parse(buf_view(&text), &s, &e), 0);
	for (int i = 0; i < ROWS; i++) {
		CLEANUP(version_release) struct version version = {0};
		CLEANUP(mem_free) char *name = xasprintf("demo-%d-py3-none-any.whl", i);
		CLEANUP(mem_free) char *number = xasprintf("%d.0", i);
		assert_int_equal(version_parse(str_from(number), &version, &e), 0);
		assert_true(rebuild_set_has(s, "a", "demo", name));
		assert_true(rebuild_set_find(s, "a", "demo", &version, &found));
		assert_string_equal(found.filename, name);
	}
	assert_true(getenv("UNDER_VALGRIND") || clock_thread_ms() - from < LIMIT_REBUILD_CPU_MS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_is_to_be_rebuilt_is_found),
		cmocka_unit_test(test_a_number_that_is_none_is_refused),
		cmocka_unit_test(test_a_document_that_is_too_large_is_refused),
		cmocka_unit_test(test_what_is_written_is_read),
		cmocka_unit_test(test_what_is_sent_is_limited),
		cmocka_unit_test(test_many_rows_are_found_quickly),
	};
	return cmocka_run_group_tests(tests, make_file, remove_file);
}
