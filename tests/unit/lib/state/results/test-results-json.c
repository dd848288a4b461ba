// SPDX-License-Identifier: Apache-2.0
#include "lib/state/results/results-json.h"

#include <string.h>

#include "lib/base/limits.h"
#include "tests/unit/support/attempts.h"

static const char whole[] =
	"{\"id\": \"0123456789abcdef0123456789abcdef\", \"platform\": \"debian-12-x86_64\", \"python\": \"3.11\","
	" \"project\": \"a-b\", \"version\": \"1.0\", \"step\": \"build\", \"why\": \"gcc\", \"recipe\": \"" ATTEMPTS_SHA
	"\", \"builder\": \"host\", \"result\": \"failed\", \"begun\": \"2026-11-22T20:00:00Z\", \"seconds\": 2,"
	" \"peak_memory\": 12, \"files\": [{\"filename\": \"a.whl\", \"sha256\": \"" ATTEMPTS_SHA "\", \"size\": 3}],"
	" \"sdist\": {\"filename\": \"a.tar.gz\", \"sha256\": \"" ATTEMPTS_SHA "\"}, \"awaiting\": [\"x\", \"y\"],"
	" \"provenance\": {\"libc\": \"glibc 2.36\"}, \"has_log\": true, \"log\": \"a\\nb\"}";

// The text with one piece of it replaced.
static char *replace_part(const char *from, const char *to)
{
	const char *at = strstr(whole, from);
	assert_non_null(at);
	return xasprintf("%.*s%s%s", (int)(at - whole), whole, to, at + strlen(from));
}

static int read_json(const char *text, struct results_attempt *a, struct arena *arena, struct jsondoc **doc,
	struct str *log, struct err *e)
{
	*doc = jsondoc_read(str_from(text), e);
	return *doc ? results_json_read(*doc, a, arena, log, e) : -1;
}

static void document_is_read_and_written_the_same(void **state UNUSED)
{
	struct err e = ERR_INIT;
	struct results_attempt a;
	struct str log;
	CLEANUP(arena_release) struct arena arena = {0};
	CLEANUP(jsondoc_cleanup) struct jsondoc *doc = NULL, *again = NULL;
	CLEANUP(buf_release) struct buf before, after;
	buf_init(&before, 64 << 10);
	buf_init(&after, 64 << 10);
	attempts_ok(read_json(whole, &a, &arena, &doc, &log, &e), &e);
	assert_string_equal(a.files, "a.whl " ATTEMPTS_SHA " 3");
	assert_string_equal(a.sdist, "a.tar.gz " ATTEMPTS_SHA);
	assert_string_equal(a.awaiting, "x y");
	assert_int_equal(a.result, RESULTS_FAILED);
	assert_int_equal(a.begun, 1795377600);
	assert_true(a.is_sent);
	assert_true(a.has_log);
	assert_string_equal(log.ptr, "a\nb");
	again = results_json(&a);
	results_json_put_log(again, log);
	CLEANUP(jsondoc_cleanup) struct jsondoc *third = NULL;
	jsondoc_write(again, 0, &before);
	attempts_ok(read_json(before.data, &a, &arena, &third, &log, &e), &e);
	CLEANUP(jsondoc_cleanup) struct jsondoc *fourth = results_json(&a);
	results_json_put_log(fourth, log);
	jsondoc_write(fourth, 0, &after);
	assert_string_equal(before.data, after.data);
}

// What results_put stores is what the document says.
static void empty_values_are_written_and_read(void **state UNUSED)
{
	struct err e = ERR_INIT;
	struct results_attempt a = attempts_make("a", RESULTS_OK, attempts_now), b;
	struct str log;
	CLEANUP(arena_release) struct arena arena = {0};
	CLEANUP(buf_release) struct buf text;
	CLEANUP(jsondoc_cleanup) struct jsondoc *doc = results_json(&a), *read = NULL;
	buf_init(&text, 64 << 10);
	jsondoc_write(doc, 0, &text);
	attempts_ok(read_json(text.data, &b, &arena, &read, &log, &e), &e);
	assert_null(log.ptr);
	assert_false(b.has_log);
	assert_string_equal(b.files, "");
	assert_string_equal(b.sdist, "");
	assert_string_equal(b.awaiting, "");
	assert_int_equal(b.begun, a.begun);
}

static void log_is_made_fit_for_json(void **state UNUSED)
{
	CLEANUP(jsondoc_cleanup) struct jsondoc *doc = jsondoc_object();
	results_json_put_log(doc, (struct str){"a\0b", 3});
	assert_string_equal(jsondoc_get_str(doc, "log"), "a?b");
	results_json_put_log(doc, STR("\xff\n"));
	assert_string_equal(jsondoc_get_str(doc, "log"), "?\n");
}

static void wrong_documents_are_refused(void **state UNUSED)
{
	static const struct {
		const char *from, *to, *word;
	} row[] = {
		{"\"id\"", "\"no\"", "id"},
		{"\"0123456789abcdef0123456789abcdef\"", "12", "id"},
		{"\"debian-12-x86_64\"", "\"../etc\"", "platform"},
		{"\"3.11\"", "3.11", "python"},
		{"\"a-b\"", "\"a_b\"", "project"},
		{"\"1.0\"", "null", "version"},
		{"\"failed\"", "\"bad\"", "result"},
		{"\"2026-11-22T20:00:00Z\"", "1795377600", "begun"},
		{"\"2026-11-22T20:00:00Z\"", "\"2999-11-22T20:00:00Z\"", "clock"},
		{"\"seconds\": 2", "\"seconds\": \"2\"", "seconds"},
		{"\"seconds\": 2", "\"seconds\": 1e300", "seconds"},
		{"\"peak_memory\": 12", "\"peak_memory\": -1", "peak_memory"},
		{"\"size\": 3", "\"size\": -3", "files"},
		{"\"a.whl\"", "\"a.whl 1\"", "files"},
		{"\"a.whl\"", "\"../a.whl\"", "files"},
		{"\"a.whl\"", "\"a.whl\\nb\"", "files"},
		{"[{\"filename\": \"a.whl\"", "[12, {\"filename\": \"a.whl\"", "files"},
		{"\"a.tar.gz\"", "\"a tar\"", "sdist"},
		{"\"y\"", "\"y z\"", "awaiting"},
		{"\"y\"", "\"\"", "awaiting"},
		{"[\"x\", \"y\"]", "\"x\"", "awaiting"},
		{"{\"libc\": \"glibc 2.36\"}", "[]", "provenance"},
		{"{\"libc\": \"glibc 2.36\"}", "null", "provenance"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(row); i++) {
		struct err e = ERR_INIT;
		struct results_attempt a;
		struct str log;
		CLEANUP(arena_release) struct arena arena = {0};
		CLEANUP(jsondoc_cleanup) struct jsondoc *doc = NULL;
		CLEANUP(mem_free) char *text = replace_part(row[i].from, row[i].to);
		assert_int_equal(read_json(text, &a, &arena, &doc, &log, &e), -1);
		assert_int_equal(e.kind, ERR_INVALID);
		if (!strstr(e.msg, row[i].word))
			fail_msg("%s: %s", text, e.msg);
	}
}

static void assert_too_large(const char *from, const char *to, const char *word)
{
	struct err e = ERR_INIT;
	struct results_attempt a;
	struct str log;
	CLEANUP(arena_release) struct arena arena = {0};
	CLEANUP(jsondoc_cleanup) struct jsondoc *doc = NULL;
	CLEANUP(mem_free) char *text = replace_part(from, to);
	assert_int_equal(read_json(text, &a, &arena, &doc, &log, &e), -1);
	assert_non_null(strstr(e.msg, word));
}

// limits.h
static void values_of_a_document_have_limits(void **state UNUSED)
{
	CLEANUP(buf_release) struct buf out;
	buf_init(&out, LIMIT_RESULT_LOG + 100);
	for (int i = 0; i <= LIMIT_RESULT_FILES; i++)
		buf_printf(&out, "{\"filename\": \"a%d.whl\", \"sha256\": \"" ATTEMPTS_SHA "\", \"size\": 3},", i);
	buf_puts(&out, "{\"filename\": \"a.whl\"");
	assert_too_large("{\"filename\": \"a.whl\"", out.data, "files");
	buf_clear(&out);
	for (int i = 0; i < LIMIT_RESULT_AWAITING; i++)
		buf_puts(&out, "\"a\",");
	buf_puts(&out, "\"x\"");
	assert_too_large("\"x\"", out.data, "awaiting");
	buf_clear(&out);
	buf_printf(&out, "\"%0*d\"", LIMIT_RESULT_PROVENANCE, 0);
	assert_too_large("\"glibc 2.36\"", out.data, "provenance");
	buf_clear(&out);
	buf_printf(&out, "\"%0*d\"", LIMIT_RESULT_LOG + 1, 0);
	assert_too_large("\"a\\nb\"", out.data, "log");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(document_is_read_and_written_the_same),
		cmocka_unit_test(empty_values_are_written_and_read),
		cmocka_unit_test(log_is_made_fit_for_json),
		cmocka_unit_test(wrong_documents_are_refused),
		cmocka_unit_test(values_of_a_document_have_limits),
	};
	return cmocka_run_group_tests(tests, attempts_make_folder, attempts_remove_folder);
}
