// SPDX-License-Identifier: Apache-2.0
// The pages of build results and their picture, from made-up attempts.
#include "server/pages/builds-page.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "lib/base/limits.h"
#include "lib/format/jsondoc.h"

#define HOSTILE "</td><script>alert(1)</script>\x1b[31m&\"'\nsecond line"

enum { NOON = 1795348800 }; // 2026-11-22 12:00

static struct results_attempt make_attempt(const char *platform, const char *python, enum results_result result)
{
	return (struct results_attempt){
		.id = "0123456789abcdef0123456789abcdef",
		.platform = platform,
		.python = python,
		.project = "six",
		.version = "1.0",
		.result = result,
		.step = "build",
		.why = HOSTILE,
		.begun = NOON,
		.seconds = 200,
		.peak_memory = 5500000000,
		.files = "six-1.0-py3-none-any.whl "
			 "5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03 1234",
		.sdist = "six-1.0.tar.gz 5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03",
		.awaiting = "cffi",
		.recipe = "",
		.builder = "<b>host</b>",
		.provenance = "{\"compiler\": \"</pre><script>alert(2)</script>\"}",
		.has_log = true,
	};
}

static void assert_contains(const struct buf *out, const char *want)
{
	if (!strstr(out->data, want))
		fail_msg("no '%s' in:\n%s", want, out->data);
}

static void write_all(const struct builds_data *data, struct buf *out)
{
	static const char *const platform[] = {"debian-12-x86_64", "ubuntu-24.04-x86_64"};
	const struct builds_query search = {
		.platform = "debian-12-x86_64", .project = "\"><i>", .result = "failed", .limit = 100};
	const struct builds_page_query query = {&search, platform, 2};
	buf_init(out, LIMIT_PAGE);
	builds_page_write(&(struct html_frame){.root = "../../"}, data, &query, out);
	assert_false(out->failed);
	assert_true(str_is_utf8(buf_view(out)));
	assert_null(strstr(out->data, "<script>"));
	assert_null(strstr(out->data, "<b>"));
	assert_null(strstr(out->data, "\x1b"));
}

static void what_fails_and_since_when(void **state UNUSED)
{
	static const char *const want[] = {
		"<span class=\"state busy still\">1 fails</span>",
		"<dt>Fail now</dt><dd>1</dd>",
		"<dt>Running</dt><dd>2</dd>",
		"<dt>Good in 60 days</dt><dd>1,007</dd>",
		"<tr><th scope=\"row\"><a href=\"six/\">six</a> 1.0</th><td><span class=\"name\">debian-12-x86_64</span> "
		"<span class=\"name\">Python 3.12</span></td><td><span class=\"verdict goes\">timed-out</span> in build ",
		"<time datetime=\"2026-11-20T12:00:00Z\"><span class=\"name\">2026-11-20</span> "
		"<span class=\"name\">12:00 UTC</span></time>, 3 times",
		"&lt;/td&gt;&lt;script&gt;alert(1)&lt;/script&gt;\xef\xbf\xbd[31m&amp;",
		"<a href=\"six/0123456789abcdef0123456789abcdef\">log</a>",
		"<span class=\"verdict good\">ok</span> <a href=",
		"<td class=\"name\">3 min 20 s</td>",
		"<th scope=\"col\">Fails since</th>",
		"<option value=\"debian-12-x86_64\" selected>",
		"<option value=\"failed\" selected>",
		"value=\"&quot;&gt;&lt;i&gt;\"",
		"<a href=\"./?platform=debian-12-x86_64&amp;project=%22%3E%3Ci%3E&amp;result=failed&amp;limit=400\">",
		"<tr><th scope=\"row\">2026-11-21</th><td class=\"n\" data-of=\"good\">1000</td>",
	};
	struct builds_failure failure = {make_attempt("debian-12-x86_64", "3.12", RESULTS_TIMED_OUT), NOON - 172800, 3};
	struct results_attempt good = make_attempt("debian-12-x86_64", "3.12", RESULTS_OK);
	struct builds_data data = {
		.failure = &failure, .failures = 1, .attempt = &good, .attempts = 1, .running = 2, .has_more = true};
	data.day[TREND_DAYS - 2] = (struct trend_day){NOON - 43200 - 86400, {[TREND_GOOD] = 1000, [TREND_BAD] = 0}};
	data.day[TREND_DAYS - 1] = (struct trend_day){NOON - 43200, {[TREND_GOOD] = 7, [TREND_BAD] = 1}};
	CLEANUP(buf_release) struct buf out;
	write_all(&data, &out);
	for (size_t i = 0; i < ARRAY_SIZE(want); i++)
		assert_contains(&out, want[i]);
}

static void nothing_was_built(void **state UNUSED)
{
	struct builds_data data = {0};
	CLEANUP(buf_release) struct buf out;
	write_all(&data, &out);
	assert_contains(&out, "Nothing fails");
	assert_contains(&out, "There are none.");
	assert_null(strstr(out.data, "Show more"));
}

static void a_project_has_groups(void **state UNUSED)
{
	static const char *const want[] = {
		"<h2>debian-12-x86_64, Python 3.9</h2>",
		"<h2>debian-12-x86_64, Python 3.10</h2>",
		"<h2>ubuntu-24.04-x86_64, Python 3.9</h2>",
		"<dt>Builder</dt><dd>&lt;b&gt;host&lt;/b&gt;</dd>",
		("<dt>Made</dt><dd>six-1.0-py3-none-any.whl <code>5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e"
		 "846f6be03</code> 1234 bytes</dd>"),
		"<dt>Sdist</dt><dd>six-1.0.tar.gz</dd>",
		"<dt>Missing build requirements</dt><dd>cffi</dd>",
		"<dt>Peak memory</dt><dd>5.5 GB</dd>",
		"&quot;compiler&quot;: &quot;&lt;/pre&gt;&lt;script&gt;",
		"<a href=\"0123456789abcdef0123456789abcdef\">log</a>",
	};
	struct results_attempt attempt[] = {
		make_attempt("ubuntu-24.04-x86_64", "3.9", RESULTS_RUNNING),
		make_attempt("debian-12-x86_64", "3.10", RESULTS_OK),
		make_attempt("debian-12-x86_64", "3.9", RESULTS_FAILED),
		make_attempt("debian-12-x86_64", "3.10", RESULTS_CRASHED),
	};
	struct builds_data data = {.attempt = attempt, .attempts = ARRAY_SIZE(attempt)};
	CLEANUP(buf_release) struct buf out, small;
	buf_init(&out, LIMIT_PAGE);
	builds_page_project(&(struct html_frame){.root = "../../../"}, &data, "six", 100, &out);
	assert_false(out.failed);
	const char *at = out.data;
	for (size_t i = 0; i < 3; i++) { // in this order, each once
		at = strstr(at, want[i]);
		assert_non_null(at);
		assert_null(strstr(at + 1, want[i]));
	}
	for (size_t i = 3; i < ARRAY_SIZE(want); i++)
		assert_contains(&out, want[i]);
	assert_true(strstr(out.data, ">ok<") < strstr(out.data, ">crashed<"));
	assert_null(strstr(out.data, "<script>"));
	buf_init(&small, 1000);
	builds_page_project(&(struct html_frame){.root = "../../../"}, &data, "six", 100, &small);
	assert_true(small.failed);
}

static void json_has_the_same(void **state UNUSED)
{
	struct builds_failure failure = {make_attempt("debian-12-x86_64", "3.12", RESULTS_FAILED), NOON - 172800, 3};
	struct builds_data data = {.failure = &failure, .failures = 1, .running = 1};
	CLEANUP(jsondoc_cleanup) struct jsondoc *doc = builds_json(&data, false);
	const struct jsondoc *failing = jsondoc_at(jsondoc_get(doc, "failing"), 0);
	assert_string_equal(jsondoc_get_str(failing, "since"), "2026-11-20T12:00:00Z");
	assert_string_equal(jsondoc_get_str(failing, "python"), "3.12");
	assert_int_equal(jsondoc_count(jsondoc_get(doc, "days")), TREND_DAYS);
	assert_int_equal(jsondoc_count(jsondoc_get(doc, "attempts")), 0);
}

static void a_log_is_harmless(void **state UNUSED)
{
	static const struct {
		const char *log, *want;
	} rows[] = {
		{"plain\ttext\n", "plain\ttext\n"}, {"a\r\nb\rc", "a\nb\nc"},
		{"\x1b[2J\x07\x7f", "\u241b[2J\u2407\u2421"},
		{"caf\u00e9 \u4e2d \U0001f40d", "caf\u00e9 \u4e2d \U0001f40d"},
		{"\xc2\x9b"
		 "31m",
			"\ufffd31m"}, // CSI in one character
		{"\u202eabc\u2069\u200f\u061c\u2028", "\ufffdabc\ufffd\ufffd\ufffd\ufffd"},
		{"\u2026\u2014\u00b7", "\u2026\u2014\u00b7"}, {"\xff\xc3", "\ufffd\ufffd"},
		{"\xed\xa0\x80", "\ufffd\ufffd\ufffd"}, // a surrogate
		{"<script>", "<script>"},               // text/plain
	};
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		CLEANUP(buf_release) struct buf out;
		buf_init(&out, 1000);
		builds_log_clean(str_from(rows[i].log), &out);
		assert_string_equal(out.data, rows[i].want);
	}
	CLEANUP(buf_release) struct buf nul;
	buf_init(&nul, 1000);
	builds_log_clean((struct str){"\0", 1}, &nul);
	assert_string_equal(nul.data, "\u2400");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_fails_and_since_when),
		cmocka_unit_test(nothing_was_built),
		cmocka_unit_test(a_project_has_groups),
		cmocka_unit_test(json_has_the_same),
		cmocka_unit_test(a_log_is_harmless),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
