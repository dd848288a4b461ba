// SPDX-License-Identifier: Apache-2.0
// Pages of another index with another structure or with fields beyond their limits. test-simplepage.c has the other
// tests.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "lib/base/limits.h"
#include "lib/domain/index/simplepage-make.h"
#include "tests/unit/lib/domain/index/simplepage-reading.h"

// None of these pages is taken for a project without files.
static void test_other_structures(void **state UNUSED)
{
	static const struct {
		const char *body, *words;
	} table[] = {
		{TOP "\"files\":\"x\"}", "\"files\" is not a list"},
		{TOP "\"files\":[],\"files\":null}", "\"files\" is not a list"},
		{TOP "\"files\":[\"foo_bar-1.zip\"]}", "file 1 is not an object"},
		{TOP "\"files\":[" FILE_OF("foo_bar-1.zip", "") ",null]}", "file 2 is not an object"},
		{TOP "\"files\":[[" FILE_OF("foo_bar-1.zip", "") "]]}", "file 1 is not an object"},
		{TOP "\"files\":[{}]}", "file 1 has no filename"},
		{TOP "\"files\":[{\"url\":\"foo_bar-1.zip\"}]}", "file 1 has no filename"},
		{TOP "\"files\":[{\"filename\":1,\"url\":\"x\"}]}", "file 1 has no filename"},
		{TOP "\"files\":[{\"filename\":\"\",\"url\":\"x\"}]}", "none of its files"},
		{TOP "\"files\":[" FILE_OF("foo_bar-1.zip", "") ",{\"filename\":\"foo_bar-2.zip\"}]}",
			"file 2 has no url"},
		{TOP "\"files\":[{\"filename\":\"foo_bar-1.zip\",\"url\":[]}]}", "file 1 has no url"},
		{TOP "\"files\":[{\"filename\":\"foo_bar-1.zip\",\"url\":\"\"}]}", "none of its files"},
		{TOP "\"files\":[{\"filename\":\"foo_bar-1.zip\",\"url\":\"file:///x\"}]}", "none of its files"},
		{TOP "\"files\":[],\"versions\":{}}", "\"versions\" is not a list"},
		{TOP "\"files\":[],\"versions\":\"1.0\"}", "\"versions\" is not a list"},
		{TOP "\"files\":[],\"versions\":[\"1\",2]}", "a version is not a string"},
		{TOP "\"files\":[],\"versions\":[{\"1\":2}]}", "a version is not a string"},
		{TOP "\"files\":[],\"versions\":[null]}", "a version is not a string"},
		{TOP "\"files\":[],\"meta\":[]}", "\"meta\" is not an object"},
		{TOP "\"files\":[],\"project-status\":\"quarantined\"}", "\"project-status\" is not an object"},
		{TOP "\"files\":[],\"project-status\":[\"quarantined\"]}", "\"project-status\" is not an object"},
		{TOP "\"files\":[],\"project-status\":{\"status\":[\"quarantined\"]}}",
			"the project's status is not a string"},
		{"{\"meta\":{\"api-version\":1.0},\"name\":\"foo-bar\",\"files\":[]}", "version \"\""},
		{"{\"meta\":{\"api-version\":\"1.0\"},\"name\":[\"foo-bar\"],\"files\":[]}", "not a simple page"},
		{"[" TOP "\"files\":[]}]", "not a simple page"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(table); i++)
		assert_rejected(table[i].body, JSON, SIMPLEPAGE_NOT_A_PAGE, table[i].words);
}

// A row with an empty name or URL is left out, and the others stay.
static void test_empty_rows_spoil_no_page(void **state UNUSED)
{
	static const char *const rows[] = {"{\"filename\":\"\",\"url\":\"x\"}", "{\"filename\":\"\",\"url\":\"\"}",
		"{\"url\":\"\",\"filename\":\"foo_bar-2.zip\"}"};
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		CLEANUP(simplepage_release) struct simplepage page = {0};
		CLEANUP(mem_free)
		char *body = xasprintf(TOP "\"files\":[%s,%s,%s]}", rows[i], FILE_OF("foo_bar-1.zip", ""), rows[i]);
		read_page(body, JSON, &page);
		assert_int_equal(page.files, 1);
		assert_string_equal(page.file[0].filename, "foo_bar-1.zip");
	}
}

// An absent fact is an absent key or null.
static void test_null(void **state UNUSED)
{
	CLEANUP(simplepage_release) struct simplepage page = {0};
	read_page(TOP "\"versions\":null,\"project-status\":{\"status\":null,\"reason\":null},\"files\":[{"
		      "\"filename\":\"foo_bar-1.zip\",\"url\":\"foo_bar-1.zip\",\"hashes\":null,\"core-metadata\":null,"
		      "\"provenance\":null}]}",
		JSON, &page);
	assert_int_equal(page.status, SIMPLEPAGE_ACTIVE);
	assert_int_equal(page.files, 1);
	assert_int_equal(page.versions, 0);
}

static char *repeat(const char *start, char c, size_t count)
{
	size_t before = strlen(start);
	char *text = xmalloc(before + count + 1);
	memcpy(text, start, before);
	memset(text + before, c, count);
	text[before + count] = '\0';
	return text;
}

// A field beyond its limit is omitted. The file stays, is still yanked, and is marked as cut.
// Exceeds LIMIT_REQUIRES_PYTHON, LIMIT_PROVENANCE.
static void test_long_fields(void **state UNUSED)
{
	for (size_t more = 0; more < 2; more++) {
		CLEANUP(simplepage_release) struct simplepage page = {0};
		CLEANUP(mem_free) char *python = repeat(">=3", ',', LIMIT_REQUIRES_PYTHON - 3 + more);
		CLEANUP(mem_free) char *url = repeat("https://example.org/", 'p', LIMIT_PROVENANCE - 20 + more);
		CLEANUP(mem_free) char *reason = repeat("\xe2\x82\xac", 'r', LIMIT_REASON - 3 + more);
		CLEANUP(mem_free) char *version = repeat("1", '0', LIMIT_FILE_NAME - 1 + more);
		CLEANUP(mem_free)
		char *body = xasprintf(TOP
			"\"versions\":[\"1\",\"%s\"],"
			"\"project-status\":{\"status\":\"quarantined\",\"reason\":\"%s\"},\"files\":[" FILE_OF(
				"foo_bar-1.zip", ",\"requires-python\":\"%s\"") "," FILE_OF("foo_bar-2.zip",
				",\"yanked\":\"%s\"") "," FILE_OF("foo_bar-3.zip",
				",\"provenance\":\"%s\"") "," FILE_OF("foo_bar-4.zip", "") "]}",
			version, reason, python, reason, url);
		read_page(body, JSON, &page);
		assert_int_equal(page.status, SIMPLEPAGE_QUARANTINED);
		assert_int_equal(strlen(page.status_reason), LIMIT_REASON);
		assert_int_equal(page.versions, 2 - more);
		assert_int_equal(page.files, 4);
		assert_int_equal(page.file[0].requires_python == NULL, more);
		assert_int_equal(strlen(page.file[1].yanked), LIMIT_REASON);
		assert_int_equal(page.file[2].provenance == NULL, more);
		for (size_t i = 0; i < 4; i++)
			assert_int_equal(page.file[i].is_cut, more && i < 3);
	}
}

// Exceeds LIMIT_UPLOAD_TIME. More digits than any clock has.
static void test_long_upload_times(void **state UNUSED)
{
	for (size_t more = 0; more < 2; more++) {
		CLEANUP(simplepage_release) struct simplepage page = {0};
		CLEANUP(mem_free) char *time = repeat("2026-01-02T03:04:05.", '1', LIMIT_UPLOAD_TIME - 21 + more);
		CLEANUP(mem_free)
		char *body = xasprintf(TOP "\"files\":[" FILE_OF("foo_bar-1.zip", ",\"upload-time\":\"%sZ\"") "]}", time);
		read_page(body, JSON, &page);
		assert_int_equal(page.files, 1);
		assert_int_equal(page.file[0].upload_time == NULL, more);
	}
}

// Exceeds LIMIT_SIMPLEPAGE_TEXT. The text is only counted.
static void test_too_much_text(void **state UNUSED)
{
	const struct simplepage_link link = {.filename = STR("foo_bar-1.zip"), .url = STR("foo_bar-1.zip"), .size = -1};
	for (size_t more = 0; more < 2; more++) {
		struct err e = ERR_INIT;
		struct simplepage_make m;
		CLEANUP(simplepage_release) struct simplepage page = {0};
		simplepage_make_init(&m, "foo-bar", STR("https://example.org/"));
		m.page.text.total += more * LIMIT_SIMPLEPAGE_TEXT;
		simplepage_make_link(&m, &link);
		assert_int_equal(simplepage_make_finish(&m, &page, &e), more ? SIMPLEPAGE_TOO_LARGE : SIMPLEPAGE_GOOD);
		simplepage_make_release(&m);
	}
}

// The cut leaves no partial character.
static void test_reason_cut_between_characters(void **state UNUSED)
{
	CLEANUP(simplepage_release) struct simplepage page = {0};
	CLEANUP(mem_free) char *text = repeat("", 'r', LIMIT_REASON - 1);
	CLEANUP(mem_free)
	char *body = xasprintf(TOP "\"files\":[" FILE_OF("foo_bar-1.zip", ",\"yanked\":\"%s\xe2\x82\xac\"") "]}", text);
	read_page(body, JSON, &page);
	assert_string_equal(page.file[0].yanked, text);
}

// A file whose URL is too long is omitted.
// Exceeds LIMIT_PATH.
static void test_long_urls(void **state UNUSED)
{
	for (size_t more = 0; more < 2; more++) {
		CLEANUP(simplepage_release) struct simplepage page = {0};
		CLEANUP(mem_free) char *url = repeat("https://example.org/", 'u', LIMIT_PATH - 20 + more);
		CLEANUP(mem_free)
		char *body = xasprintf(TOP
			"\"files\":[" FILE_OF("foo_bar-1.zip", "") ",{\"filename\":\"foo_bar-2.zip\",\"url\":\"%s\"}]}",
			url);
		read_page(body, JSON, &page);
		assert_int_equal(page.files, 2 - more);
	}
}

// Pages that an older version packed may exceed the limits.
static void test_limits_of_old_packs(void **state UNUSED)
{
	struct err e = ERR_INIT;
	CLEANUP(mem_free) char *text = repeat("", 'x', 1 << 20);
	CLEANUP(buf_release) struct buf packed;
	CLEANUP(simplepage_release) struct simplepage page = {0};
	struct simplepage_file file[] = {
		{.filename = "foo_bar-1.zip", .url = "https://example.org/1", .requires_python = text},
		{.filename = "foo_bar-2.zip", .url = "https://example.org/2", .yanked = text},
		{.filename = "foo_bar-3.zip", .url = "https://example.org/3", .provenance = text},
		{.filename = "foo_bar-4.zip", .url = "https://example.org/4", .requires_python = ">3", .yanked = "x"},
	};
	const char *version[] = {"1", text, "2"};
	const struct simplepage old = {.project = "foo-bar",
		.status = SIMPLEPAGE_ARCHIVED,
		.status_reason = text,
		.file = file,
		.files = ARRAY_SIZE(file),
		.version = version,
		.versions = ARRAY_SIZE(version)};
	buf_init(&packed, 8 << 20);
	assert_int_equal(simplepage_pack(&old, &packed, &e), 0);
	assert_int_equal(simplepage_unpack(buf_view(&packed), &page, &e), 0);
	assert_int_equal(page.status, SIMPLEPAGE_ARCHIVED);
	assert_null(page.status_reason);
	assert_int_equal(page.versions, 2);
	assert_string_equal(page.version[1], "2");
	assert_int_equal(page.files, 4);
	assert_null(page.file[0].requires_python);
	assert_string_equal(page.file[1].yanked, "");
	assert_null(page.file[2].provenance);
	assert_string_equal(page.file[3].requires_python, ">3");
	assert_string_equal(page.file[3].yanked, "x");
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(page.file[i].is_cut, i < 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_other_structures),
		cmocka_unit_test(test_empty_rows_spoil_no_page),
		cmocka_unit_test(test_null),
		cmocka_unit_test(test_long_fields),
		cmocka_unit_test(test_reason_cut_between_characters),
		cmocka_unit_test(test_long_urls),
		cmocka_unit_test(test_limits_of_old_packs),
		cmocka_unit_test(test_long_upload_times),
		cmocka_unit_test(test_too_much_text),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
