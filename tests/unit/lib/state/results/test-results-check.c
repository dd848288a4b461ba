// SPDX-License-Identifier: Apache-2.0
#include "lib/state/results/results.h"

#include <math.h>
#include <string.h>

#include "lib/base/limits.h"
#include "tests/unit/support/attempts.h"

// --- values ---

static void assert_refused_with(const struct results_attempt *a, struct str log, enum err_kind kind, const char *word)
{
	struct err e = ERR_INIT;
	enum results_change change;
	assert_int_equal(results_put(attempts, a, log, NULL, &change, &e), -1);
	assert_int_equal(e.kind, kind);
	assert_non_null(strstr(e.msg, word));
}

static char *repeat(char c, size_t times)
{
	char *text = xmalloc(times + 1);
	memset(text, c, times);
	text[times] = '\0';
	return text;
}

static void invalid_values_are_refused(void **state UNUSED)
{
	struct results_attempt good = attempts_make("a", RESULTS_FAILED, attempts_now);
#define REFUSED(field, value, word)                                                                                    \
	do {                                                                                                           \
		struct results_attempt a = good;                                                                       \
		a.field = value;                                                                                       \
		assert_refused_with(&a, (struct str){NULL, 0}, ERR_INVALID, word);                                     \
	} while (0)
	REFUSED(id, "12", "id");
	REFUSED(id, "0123456789ABCDEF0123456789ABCDEF", "id");
	REFUSED(id, NULL, "id");
	REFUSED(platform, "../x", "platform");
	REFUSED(python, "3", "python");
	REFUSED(python, "03.11", "python");
	REFUSED(project, "A", "project");
	REFUSED(project, "a b", "project");
	REFUSED(version, "", "version");
	REFUSED(version, "1/2", "version");
	REFUSED(version, "1 2", "version");
	REFUSED(version, "--output=evil", "version");
	REFUSED(version, "-rf", "version");
	REFUSED(result, RESULTS_RESULT_COUNT, "result");
	REFUSED(step, "compile", "step");
	REFUSED(why, "two\nlines", "why");
	REFUSED(why, "\xff", "why");
	REFUSED(begun, -1, "begun");
	REFUSED(begun, attempts_now + 2 * ATTEMPTS_DAY, "clock");
	REFUSED(seconds, -1, "seconds");
	REFUSED(seconds, NAN, "seconds");
	REFUSED(seconds, 1e300, "seconds");
	REFUSED(peak_memory, UINT64_MAX, "peak_memory");
	REFUSED(files, "a.whl 12 3", "files");
	REFUSED(files, "../a.whl " ATTEMPTS_SHA " 3", "files");
	REFUSED(files, "a.whl " ATTEMPTS_SHA " -3", "files");
	REFUSED(sdist, "a.tar.gz", "sdist");
	REFUSED(awaiting, "Cython", "awaiting");
	REFUSED(awaiting, "a  b", "awaiting");
	REFUSED(recipe, "abc", "recipe");
	REFUSED(builder, "a\tb", "builder");
	REFUSED(provenance, "[]", "provenance");
	REFUSED(provenance, "{", "provenance");
	ATTEMPTS_LIST("", 0);
}

// limits.h
// Exceeds LIMIT_RESULT_LOG, LIMIT_RESULT_FILES, LIMIT_RESULT_AWAITING, LIMIT_RESULT_PROVENANCE.
static void values_have_limits(void **state UNUSED)
{
	struct results_attempt good = attempts_make("a", RESULTS_FAILED, attempts_now);
	CLEANUP(mem_free) char *why = repeat('x', LIMIT_REASON + 1);
	CLEANUP(mem_free) char *name = repeat('a', LIMIT_RESULT_AWAITING + 1);
	CLEANUP(mem_free) char *note = repeat('a', LIMIT_NOTE + 1);
	CLEANUP(mem_free) char *blanks = repeat(' ', LIMIT_RESULT_PROVENANCE);
	CLEANUP(mem_free) char *object = xasprintf("{%s}", blanks);
	CLEANUP(mem_free) char *log = repeat('x', LIMIT_RESULT_LOG + 1);
	CLEANUP(buf_release) struct buf files;
	buf_init(&files, 64 << 10);
	for (int i = 0; i <= LIMIT_RESULT_FILES; i++)
		buf_printf(&files, "%sa%d.whl " ATTEMPTS_SHA " 1", i ? "\n" : "", i);
	REFUSED(why, why, "why");
	REFUSED(awaiting, name, "awaiting");
	REFUSED(builder, note, "builder");
	REFUSED(version, name, "version");
	REFUSED(project, name, "project");
	REFUSED(provenance, object, "provenance");
	REFUSED(files, files.data, "files");
	assert_refused_with(&good, (struct str){log, LIMIT_RESULT_LOG + 1}, ERR_INVALID, "log");
	ATTEMPTS_LIST("", 0);
}

static void one_line_has_no_control_character_and_a_limit(void **state UNUSED)
{
	static const struct {
		const char *in, *out;
	} row[] = {
		{"", ""},
		{"plain", "plain"},
		{" a\nb\tc\x7f ", "a b c"},
		{"\xc3\xa4", "\xc3\xa4"},
		{"\xe4 latin", "? latin"},
	};
	CLEANUP(mem_free) char *more = repeat('x', LIMIT_REASON + 1);
	CLEANUP(buf_release) struct buf out;
	buf_init(&out, 64 << 10);
	for (size_t i = 0; i < ARRAY_SIZE(row); i++) {
		buf_clear(&out);
		results_one_line(str_from(row[i].in), &out);
		assert_string_equal(out.data, row[i].out);
	}
	buf_clear(&out);
	results_one_line(str_from(more), &out);
	assert_int_equal(out.len, LIMIT_REASON);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ATTEMPTS_CASE(invalid_values_are_refused),
		ATTEMPTS_CASE(values_have_limits),
		ATTEMPTS_CASE(one_line_has_no_control_character_and_a_limit),
	};
	return cmocka_run_group_tests(tests, attempts_make_folder, attempts_remove_folder);
}
