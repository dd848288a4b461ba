// SPDX-License-Identifier: Apache-2.0
#include "server/api/promote-document.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "lib/base/limits.h"

#define RECORD                                                                                                         \
	"{\"kind\": \"unit\", \"platform\": \"p\", \"python\": \"3.12\", \"made\": \"2026-11-20T06:00:00Z\","          \
	"\"passed\": 1, \"failed\": 0, \"skipped\": 0, \"failures\": [], \"wheels\": [{\"filename\":"                  \
	" \"foo-1-py3-none-any.whl\", \"sha256\":"                                                                     \
	" \"2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae\"}]}"

static void everything_may_be_missing(void **state UNUSED)
{
	struct err e = ERR_INIT;
	CLEANUP(promote_document_release) struct promote_document d;
	assert_int_equal(promote_document_read(STR("{}"), &d, &e), 0);
	assert_int_equal(d.request.selects + d.request.evidences, 0);
	assert_string_equal(d.request.reason, "");
	assert_null(d.request.override);
	assert_null(d.request.from);
	assert_false(d.request.dry_run || d.request.all_or_nothing);
}

static void what_is_given_is_read(void **state UNUSED)
{
	struct err e = ERR_INIT;
	CLEANUP(promote_document_release) struct promote_document d;
	static const struct str text =
		STR("{\"select\": [\"foo\", \"bar==1.0\"], \"from\": \"staging\", \"evidence\": [" RECORD
		    "], \"reason\": \"night\", \"override\": \"why\", \"all_or_nothing\": true,"
		    " \"dry_run\": true}");
	if (promote_document_read(text, &d, &e) < 0)
		fail_msg("%s", e.msg);
	assert_int_equal(d.request.selects, 2);
	assert_string_equal(d.request.select[1], "bar==1.0");
	assert_string_equal(d.request.from, "staging");
	assert_int_equal(d.request.evidences, 1);
	assert_string_equal(d.request.evidence[0].wheel[0].filename, "foo-1-py3-none-any.whl");
	assert_true(d.bytes[0] > 200);
	assert_string_equal(d.request.reason, "night");
	assert_string_equal(d.request.override, "why");
	assert_true(d.request.dry_run && d.request.all_or_nothing);
}

static void what_is_wrong_is_named(void **state UNUSED)
{
	static const struct {
		struct str text;
		const char *words;
	} rows[] = {
		{STR("{"), "JSON"},
		{STR("{\"select\": []}"), "\"select\" is empty"},
		{STR("{\"select\": \"foo\"}"), "\"select\" is no array"},
		{STR("{\"select\": true}"), "\"select\" is no array"},
		{STR("{\"select\": [\"foo\", \"\"]}"), "select[1]"},
		{STR("{\"select\": [null]}"), "select[0]"},
		{STR("{\"evidence\": 1}"), "\"evidence\" is no array"},
		{STR("{\"evidence\": [" RECORD ", {}]}"), "evidence[1]: "},
		{STR("{\"evidence\": [\"x\"]}"), "evidence[0]: "},
		{STR("{\"reason\": 1}"), "\"reason\" is no text"},
		{STR("{\"override\": \"\"}"), "\"override\" is no text"},
		{STR("{\"override\": \"a\\u001bb\"}"), "control character"},
		{STR("{\"dry_run\": 1}"), "\"dry_run\" is neither true nor false"},
		{STR("{\"dry_run\": \"true\"}"), "\"dry_run\" is neither true nor false"},
		{STR("{\"all_or_nothing\": [true]}"), "\"all_or_nothing\" is neither true nor false"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct err e = ERR_INIT;
		CLEANUP(promote_document_release) struct promote_document d;
		if (promote_document_read(rows[i].text, &d, &e) == 0 || !strstr(e.msg, rows[i].words))
			fail_msg("row %zu: %s", i, e.msg);
		assert_int_equal(e.kind, ERR_INVALID);
	}
}

// A document with one more entry of this key than there may be.
static void assert_limit(const char *key, const char *entry, size_t most)
{
	struct err e = ERR_INIT;
	CLEANUP(promote_document_release) struct promote_document d;
	CLEANUP(buf_release) struct buf text;
	buf_init(&text, LIMIT_EVIDENCE);
	buf_printf(&text, "{\"%s\": [", key);
	for (size_t i = 0; i <= most; i++)
		buf_printf(&text, "%s%s", i ? "," : "", entry);
	buf_puts(&text, "]}");
	assert_int_equal(promote_document_read(buf_view(&text), &d, &e), -1);
	assert_int_equal(e.kind, ERR_LIMIT);
}

// Exceeds LIMIT_PROMOTE_SELECTS, LIMIT_PROMOTE_EVIDENCE.
static void long_lists_are_refused(void **state UNUSED)
{
	assert_limit("select", "\"foo\"", LIMIT_PROMOTE_SELECTS);
	assert_limit("evidence", "{}", LIMIT_PROMOTE_EVIDENCE);
}

// Exceeds LIMIT_PROMOTE_REFUSED.
static void refused_files_count(void **state UNUSED)
{
	assert_int_equal(promote_document_tries(0), LIMIT_PROMOTE_COST);
	assert_int_equal(promote_document_tries(LIMIT_PROMOTE_REFUSED - 1), 0);
	assert_int_equal(promote_document_tries(5 * LIMIT_PROMOTE_REFUSED + 1), 5);
	assert_int_equal(promote_document_tries(SIZE_MAX), LIMIT_EVIDENCE_AT_ONCE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(everything_may_be_missing),
		cmocka_unit_test(what_is_given_is_read),
		cmocka_unit_test(what_is_wrong_is_named),
		cmocka_unit_test(long_lists_are_refused),
		cmocka_unit_test(refused_files_count),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
