// SPDX-License-Identifier: Apache-2.0
#include "lib/state/store/tombstone.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "lib/base/limits.h"

static const char url[] = "https://files.example/six-1.0-py3-none-any.whl";

static struct tombstone whole(void)
{
	struct tombstone t = {.reason = "upstream has this file",
		.when = 1767323045,
		.by = "user root",
		.verdict = "duplicate",
		.run = "20260102T030405Z-0123ab",
		.project = "six",
		.has_sha256 = true,
		.sha256 = {1, 2, 3},
		.size = 4711,
		.requires_python = ">=3.9",
		.upstream = {.filename = "six-1.0-py3-none-any.whl",
			.url = url,
			.index = "https://pypi.org/simple/",
			.has_sha256 = true,
			.sha256 = {4, 5, 6},
			.uploaded = 1600000000,
			.is_identical = true}};
	return t;
}

static void what_is_written_is_read(void **state UNUSED)
{
	struct err e = ERR_INIT;
	const struct tombstone t = whole();
	CLEANUP(tombstone_release) struct tombstone got;
	CLEANUP(buf_release) struct buf text;
	buf_init(&text, LIMIT_SIDECAR);
	assert_int_equal(tombstone_write(&t, &text, &e), 0);
	assert_null(strchr(text.data, '\n'));
	tombstone_read(buf_view(&text), &got);
	assert_string_equal(got.reason, t.reason);
	assert_int_equal(got.when, t.when);
	assert_string_equal(got.by, t.by);
	assert_string_equal(got.verdict, t.verdict);
	assert_string_equal(got.run, t.run);
	assert_string_equal(got.project, t.project);
	assert_true(got.has_sha256 && memcmp(got.sha256, t.sha256, SHA256_SIZE) == 0);
	assert_int_equal(got.size, t.size);
	assert_string_equal(got.requires_python, t.requires_python);
	assert_string_equal(got.upstream.filename, t.upstream.filename);
	assert_string_equal(got.upstream.url, url);
	assert_string_equal(got.upstream.index, t.upstream.index);
	assert_true(got.upstream.has_sha256 && memcmp(got.upstream.sha256, t.upstream.sha256, SHA256_SIZE) == 0);
	assert_int_equal(got.upstream.uploaded, t.upstream.uploaded);
	assert_true(got.upstream.is_identical);
}

// What is not known is not written.
static void what_is_left_out_is_not_there(void **state UNUSED)
{
	struct err e = ERR_INIT;
	const struct tombstone t = {.reason = "broken", .by = "user root", .size = -1};
	CLEANUP(tombstone_release) struct tombstone got;
	CLEANUP(buf_release) struct buf text;
	buf_init(&text, LIMIT_SIDECAR);
	assert_int_equal(tombstone_write(&t, &text, &e), 0);
	assert_string_equal(text.data, "{\"reason\": \"broken\", \"by\": \"user root\"}");
	tombstone_read(buf_view(&text), &got);
	assert_true(!got.when && !got.verdict && !got.run && !got.has_sha256 && !got.requires_python && got.size == -1);
	assert_null(got.upstream.filename);
}

static void any_text_is_one(void **state UNUSED)
{
	static const struct {
		const char *text, *reason, *run;
		int64_t when;
	} row[] = {
		{"", "", NULL, 0},
		{"by hand\n", "by hand", NULL, 0},
		{"two\nlines", "two lines", NULL, 0},
		{"{\"reason\": \"cut", "{\"reason\": \"cut", NULL, 0},
		{"[1, 2]", "", NULL, 0},
		{"{\"reason\": 7, \"run\": 7, \"when\": 7, \"sha256\": 7, \"size\": \"7\", \"upstream\": 7}", "", NULL,
			0},
		{"{\"reason\": \"a\\nb\", \"when\": \"yesterday\", \"run\": \"x\"}", "a b", "x", 0},
		{"{\"when\": \"2026-01-02T03:04:05Z\", \"upstream\": []}", "", NULL, 1767323045},
		{"{\"sha256\": \"12\", \"upstream\": {\"sha256\": \"zz\", \"uploaded\": \"?\", \"identical\": 1}}", "",
			NULL, 0},
	};
	for (size_t i = 0; i < ARRAY_SIZE(row); i++) {
		CLEANUP(tombstone_release) struct tombstone got;
		tombstone_read(str_from(row[i].text), &got);
		assert_string_equal(got.reason, row[i].reason);
		assert_int_equal(got.when, row[i].when);
		assert_int_equal(got.size, -1);
		assert_true(row[i].run ? got.run && strcmp(got.run, row[i].run) == 0 : !got.run);
		assert_false(got.has_sha256 || got.upstream.filename || got.upstream.has_sha256 ||
			     got.upstream.is_identical || got.upstream.uploaded);
	}
}

static void one_that_is_too_long_is_none(void **state UNUSED)
{
	struct err e = ERR_INIT;
	CLEANUP(mem_free) char *words = xmalloc(LIMIT_SIDECAR + 1);
	memset(words, 'x', LIMIT_SIDECAR);
	words[LIMIT_SIDECAR] = '\0';
	const struct tombstone t = {.reason = words, .size = -1};
	CLEANUP(buf_release) struct buf text;
	buf_init(&text, 2 * LIMIT_SIDECAR);
	assert_int_equal(tombstone_write(&t, &text, &e), -1);
	assert_int_equal(e.kind, ERR_LIMIT);
	assert_int_equal(text.len, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_written_is_read),
		cmocka_unit_test(what_is_left_out_is_not_there),
		cmocka_unit_test(any_text_is_one),
		cmocka_unit_test(one_that_is_too_long_is_none),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
