// SPDX-License-Identifier: Apache-2.0
#include "lib/domain/promotion/evidence.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "lib/base/limits.h"

#define ZEROS "0000000000000000000000000000000000000000000000000000000000000000"
#define ONES "1111111111111111111111111111111111111111111111111111111111111111"
#define HEAD(kind, platform, python, made)                                                                             \
	"\"kind\":\"" kind "\",\"made\":\"" made "\",\"platform\":\"" platform "\",\"python\":\"" python "\","
#define CELL HEAD("unit", "a", "3.12", "2026-11-22T20:00:00Z")
#define NUMBERS "\"failed\":1,\"passed\":7,\"skipped\":2,\"failures\":[{\"name\":\"a::b\",\"message\":\"m\"}],"
#define WHEEL(name, sha256) "{\"filename\":\"" name "\",\"sha256\":\"" sha256 "\"}"
#define WHEELS "\"wheels\":[" WHEEL("b-1-py3-none-any.whl", ONES) "," WHEEL("a-1-py3-none-any.whl", ZEROS) "]"

static void assert_only_form(const char *json, const char *form)
{
	struct err e = ERR_INIT;
	CLEANUP(evidence_release) struct evidence r = {0};
	CLEANUP(buf_release) struct buf out = {0};
	buf_init(&out, 1 << 20);
	if (evidence_read(str_from(json), &r, &e) < 0)
		fail_msg("%s", e.msg);
	evidence_write(&r, &out);
	assert_string_equal(out.data, form);
}

// With what ties it to other builds.
#define COMMIT "abababababababababababababababababababab"
#define BUILT(content, commit)                                                                                         \
	"{\"filename\":\"a-1-py3-none-any.whl\",\"sha256\":\"" ZEROS "\",\"content_sha256\":\"" content                 \
	"\",\"commit\":\"" commit "\"}"
#define WRITTEN(name, sha256) "{\"filename\": \"" name "\", \"sha256\": \"" sha256 "\"}"
#define WRITTEN_WHEELS                                                                                                 \
	"\"wheels\": [" WRITTEN("a-1-py3-none-any.whl", ZEROS) ", " WRITTEN("b-1-py3-none-any.whl", ONES) "]}\n"

static void records_are_written_in_one_form(void **state UNUSED)
{
	assert_only_form("{" WHEELS ", " NUMBERS CELL "\"other\": [1] }",
		"{\"failed\": 1, \"failures\": [{\"message\": \"m\", \"name\": \"a::b\"}], \"kind\": \"unit\", "
		"\"made\": \"2026-11-22T20:00:00Z\", \"passed\": 7, \"platform\": \"a\", \"python\": \"3.12\", \"skipped\": 2, " WRITTEN_WHEELS);
	assert_only_form("{" CELL "\"override\":\"it must go out\"," WHEELS "}",
		"{\"kind\": \"unit\", \"made\": \"2026-11-22T20:00:00Z\", \"override\": \"it must go out\", \"platform\": \"a\", "
		"\"python\": \"3.12\", " WRITTEN_WHEELS);
	assert_only_form("{" CELL NUMBERS "\"wheels\":[" BUILT(ONES, COMMIT) "]}",
		"{\"failed\": 1, \"failures\": [{\"message\": \"m\", \"name\": \"a::b\"}], \"kind\": \"unit\", "
		"\"made\": \"2026-11-22T20:00:00Z\", \"passed\": 7, \"platform\": \"a\", \"python\": \"3.12\", \"skipped\": 2, "
		"\"wheels\": [{\"commit\": \"" COMMIT "\", \"content_sha256\": \"" ONES
		"\", \"filename\": \"a-1-py3-none-any.whl\", \"sha256\": \"" ZEROS "\"}]}\n");
}

static void newer_and_worse_records_count_last(void **state UNUSED)
{
	static const struct evidence in_order[] = {
		{.made = 1, .failed = 9},
		{.made = 2, .passed = 8, .skipped = 1},
		{.made = 2, .passed = 7, .skipped = 1},
		{.made = 2, .passed = 9, .skipped = 2},
		{.made = 2, .passed = 9, .failed = 1},
		{.made = 3, .passed = 9},
	};
	for (size_t i = 0; i < ARRAY_SIZE(in_order); i++)
		for (size_t k = 0; k < ARRAY_SIZE(in_order); k++)
			assert_int_equal(evidence_compare(&in_order[i], &in_order[k]), (i > k) - (i < k));
}

static void wrong_values_are_named(void **state UNUSED)
{
	static const struct {
		const char *json, *reason;
	} cases[] = {
		{"", "evidence: "},
		{"[]", "\"failed\" is not a number of tests"},
		{"{}", "\"failed\" is not a number of tests"},
		{"{\"override\":\"x\"}", "\"kind\" is not a string"},
		{"{" HEAD("Unit", "a", "3.12", "2026-11-22T20:00:00Z") NUMBERS WHEELS "}", "\"Unit\" is no kind"},
		{"{" HEAD("unit", "../a", "3.12", "2026-11-22T20:00:00Z") NUMBERS WHEELS "}", "no name of a platform"},
		{"{" HEAD("unit", "a", "3 12", "2026-11-22T20:00:00Z") NUMBERS WHEELS "}", "\"3 12\" is no Python"},
		{"{" HEAD("unit", "a", "3.12.4", "2026-11-22T20:00:00Z") NUMBERS WHEELS "}", "\"3.12.4\" is no Python"},
		{"{" HEAD("unit", "a", "pypy3.10", "2026-11-22T20:00:00Z") NUMBERS WHEELS "}", "no Python"},
		{"{" HEAD("unit", "a", "3.012", "2026-11-22T20:00:00Z") NUMBERS WHEELS "}", "no Python"},
		{"{" HEAD("unit", "a", "3.12", "yesterday") NUMBERS WHEELS "}", "\"made\" is not a time"},
		{"{" HEAD("u\\u001b", "a", "3.12", "2026-11-22T20:00:00Z") NUMBERS WHEELS "}", "control character"},
		{"{" CELL "\"failed\":0,\"failures\":[]," WHEELS "}", "\"passed\" is not a number of tests"},
		{"{" CELL "\"failed\":0,\"failures\":[],\"passed\":-1," WHEELS "}", "\"passed\" is not a number of tests"},
		{"{" CELL "\"failed\":0,\"failures\":[],\"passed\":1.5," WHEELS "}", "\"passed\" is not a number of tests"},
		{"{" CELL "\"passed\":1,\"failed\":0,\"skipped\":0," WHEELS "}", "\"failures\" is not an array"},
		{"{" CELL "\"override\":\"\\n\"," WHEELS "}", "\"override\" has a control character"},
		{"{" CELL NUMBERS "\"wheels\":[]}", "names no wheel"},
		{"{" CELL NUMBERS "\"wheels\":[1]}", "wheels[0]: \"filename\" is not a string"},
		{"{" CELL NUMBERS "\"wheels\":[" WHEEL("a-1.tar.gz", ZEROS) "]}", "wheels[0]: "},
		{"{" CELL NUMBERS "\"wheels\":[" WHEEL("a-1-py3-none-any.whl", "00") "]}", "64 hexadecimal digits"},
		{"{" CELL NUMBERS
		 "\"wheels\":[" WHEEL("a-1-py3-none-any.whl", ZEROS) "," WHEEL("a-1-py3-none-any.whl", ONES) "]}",
			"a-1-py3-none-any.whl stands in \"wheels\" twice"},
		{"{" CELL NUMBERS "\"wheels\":[" BUILT("00", COMMIT) "]}", "\"content_sha256\" is not 64 hexadecimal digits"},
		{"{" CELL NUMBERS "\"wheels\":[" BUILT(ONES, "main") "]}", "\"commit\" is not a commit of git"},
		{"{" CELL NUMBERS "\"wheels\":[" BUILT(ONES, "ABABABABABABABABABABABABABABABABABABABAB") "]}", "\"commit\" is not"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct err e = ERR_INIT;
		struct evidence r;
		if (evidence_read(str_from(cases[i].json), &r, &e) != -1)
			fail_msg("%s: read", cases[i].json);
		if (e.kind != ERR_INVALID || !strstr(e.msg, cases[i].reason))
			fail_msg("%s: %s", cases[i].json, e.msg);
	}
}

// Exceeds LIMIT_EVIDENCE, LIMIT_EVIDENCE_WHEELS.
static void wheels_and_bytes_are_limited(void **state UNUSED)
{
	struct err e = ERR_INIT;
	struct evidence r;
	CLEANUP(buf_release) struct buf json = {0};
	buf_init(&json, 2 * LIMIT_EVIDENCE);
	buf_puts(&json, "{" CELL NUMBERS "\"wheels\":[");
	for (int i = 0; i <= LIMIT_EVIDENCE_WHEELS; i++)
		buf_printf(&json, "%s{\"filename\":\"a-%d-py3-none-any.whl\",\"sha256\":\"" ZEROS "\"}", i ? "," : "",
			i);
	buf_puts(&json, "]}");
	assert_int_equal(evidence_read(buf_view(&json), &r, &e), -1);
	assert_int_equal(e.kind, ERR_LIMIT);
	while (json.len <= LIMIT_EVIDENCE)
		buf_puts(&json, "          ");
	assert_int_equal(evidence_read(buf_view(&json), &r, &e), -1);
	assert_non_null(strstr(e.msg, "bytes"));
}

// Exceeds LIMIT_EVIDENCE_KIND, LIMIT_EVIDENCE_TESTS.
static void numbers_and_kinds_are_limited(void **state UNUSED)
{
	static const struct {
		int64_t passed;
		int kind; // bytes
		const char *reason;
	} cases[] = {
		{LIMIT_EVIDENCE_TESTS, LIMIT_EVIDENCE_KIND, NULL},
		{LIMIT_EVIDENCE_TESTS + (int64_t)1, LIMIT_EVIDENCE_KIND, "\"passed\" is not a number of tests"},
		{LIMIT_EVIDENCE_TESTS, LIMIT_EVIDENCE_KIND + 1, "\"kind\""},
	};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct err e = ERR_INIT;
		CLEANUP(evidence_release) struct evidence r = {0};
		CLEANUP(mem_free)
		char *json = xasprintf("{\"kind\":\"%0*d\",\"made\":\"2026-11-22T20:00:00Z\",\"platform\":\"a\","
				       "\"python\":\"3.12\",\"passed\":%lld,\"failed\":0,\"skipped\":0,"
				       "\"failures\":[]," WHEELS "}",
			cases[i].kind, 0, (long long)cases[i].passed);
		assert_int_equal(evidence_read(str_from(json), &r, &e), cases[i].reason ? -1 : 0);
		if (cases[i].reason && !strstr(e.msg, cases[i].reason))
			fail_msg("%s", e.msg);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(records_are_written_in_one_form),
		cmocka_unit_test(newer_and_worse_records_count_last),
		cmocka_unit_test(wrong_values_are_named),
		cmocka_unit_test(wheels_and_bytes_are_limited),
		cmocka_unit_test(numbers_and_kinds_are_limited),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
