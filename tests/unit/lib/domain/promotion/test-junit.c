// SPDX-License-Identifier: Apache-2.0
// Reports in the shapes of several writers, and what real ones wrote (tests/data/junit).
#include "lib/domain/promotion/junit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lib/base/buf.h"
#include "lib/base/limits.h"
#include "lib/os/fs.h"
#include "tests/unit/support/vectors.h"

#define CASE(body) "<testcase classname='a.B' name='t'>" body "</testcase>"
#define SUITE(body) "<testsuite name='s' tests='99' failures='0'>" body "</testsuite>"

static void reports_are_counted_by_their_elements(void **state UNUSED)
{
	static const struct {
		const char *xml;
		uint64_t passed, failed, skipped;
	} cases[] = {
		{"<?xml version='1.0' encoding='utf-8'?><testsuites>" SUITE(CASE("")) "</testsuites>", 1, 0, 0},
		{SUITE(CASE("") CASE("<failure message='m'>long</failure>") CASE("<error/>") CASE("<skipped/>")), 1, 2,
			1},
		{SUITE(""), 0, 0, 0},
		{"<testsuites/>", 0, 0, 0},
		// pytest: a test that fails, and whose teardown fails
		{SUITE(CASE("<failure/>") CASE("<error/>")), 0, 2, 0},
		{SUITE(CASE("<failure/><error/><failure/>")), 0, 1, 0},
		{SUITE(CASE("<skipped type='pytest.xfail' message=''/>")), 0, 0, 1},
		{SUITE(CASE("<skipped/><error message='failed in teardown'/>")), 0, 1, 0},
		// a collection error of pytest
		{SUITE("<testcase classname='' name='t'><error message='collection failure'/></testcase>"), 0, 1, 0},
		// Bazel: several suites, one in the other, without numbers
		{"<testsuites><testsuite><testsuite>" CASE("") "</testsuite>" CASE("") "</testsuite></testsuites>", 2,
			0, 0},
		// gtest
		{SUITE("<testcase name='t' status='notrun' result='suppressed'/>"), 0, 0, 1},
		{SUITE("<testcase name='t' status='run'/>"), 1, 0, 0},
		// Maven: it passed when it was run again
		{SUITE(CASE("<flakyFailure/><system-out>x</system-out>")), 1, 0, 0},
		{SUITE("<properties><property name='a'/></properties>" CASE("<properties/>")), 1, 0, 0},
		{SUITE("<error message='the suite did not start'/>"), 0, 1, 0},
		// what stands in the output of a test is no result of it
		{SUITE(CASE("<system-out><failure/><skipped/></system-out>")), 1, 0, 0},
		{SUITE(CASE("<system-out><![CDATA[</testcase><failure/>]]></system-out>")), 1, 0, 0},
		{SUITE(CASE("<x>" CASE("<failure/>") "</x>")), 1, 0, 0},
		// a suite in a test: each test has its own result
		{SUITE(CASE("<failure/>" SUITE(CASE("")))), 1, 1, 0},
		{SUITE(CASE(SUITE(CASE("<failure/>")) SUITE(CASE("<skipped/>")))), 1, 1, 1},
	};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct err e = ERR_INIT;
		CLEANUP(junit_release) struct junit j = {0};
		if (junit_read(str_from(cases[i].xml), &j, &e) < 0)
			fail_msg("%s: %s", cases[i].xml, e.msg);
		if (j.passed != cases[i].passed || j.failed != cases[i].failed || j.skipped != cases[i].skipped)
			fail_msg("%s: %d %d %d", cases[i].xml, (int)j.passed, (int)j.failed, (int)j.skipped);
		assert_int_equal(j.failures, j.failed);
	}
}

static void what_real_writers_wrote_is_counted(void **state UNUSED)
{
	static const struct {
		const char *writer;
		uint64_t passed, failed, skipped;
	} cases[] = {
		{"bazel", 1, 1, 0},
		{"ctest", 1, 3, 3}, // skipped: one that is disabled, one without a program
		{"gtest", 2, 3, 2},
		{"meson", 3, 5, 2},
		{"nose2", 1, 4, 3},  // skipped: one that passes unexpectedly
		{"pytest", 5, 7, 2}, // two tests fail twice
		{"pytest-collection", 0, 1, 0},
		{"pytest-none", 0, 0, 0},
		{"pytest-xdist", 2, 1, 0},
		{"unittest-xml-reporting", 1, 5, 2},
	};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct err e = ERR_INIT;
		CLEANUP(junit_release) struct junit j = {0};
		CLEANUP(mem_free) char *below = xasprintf("junit/%s.xml", cases[i].writer);
		CLEANUP(mem_free) char *path = vectors_path(below);
		CLEANUP(buf_release) struct buf xml;
		buf_init(&xml, LIMIT_JUNIT);
		if (fs_read_file(path, &xml, &e) < 0 || junit_read(buf_view(&xml), &j, &e) < 0)
			fail_msg("%s: %s", cases[i].writer, e.msg);
		if (j.passed != cases[i].passed || j.failed != cases[i].failed || j.skipped != cases[i].skipped)
			fail_msg("%s: %d %d %d", cases[i].writer, (int)j.passed, (int)j.failed, (int)j.skipped);
	}
}

static void what_stands_behind_a_nul_is_no_report(void **state UNUSED)
{
	struct err e = ERR_INIT;
	struct junit j;
	assert_int_equal(junit_read(STR("<testsuites/>\0<testsuites>"), &j, &e), -1);
	assert_int_equal(e.kind, ERR_INVALID);
	assert_non_null(strstr(e.msg, "it has a NUL"));
}

static void what_is_no_whole_report_is_rejected(void **state UNUSED)
{
	static const struct {
		const char *xml, *reason;
		enum err_kind kind;
	} cases[] = {
		{"", "empty", ERR_INVALID},
		{"tests passed", "line 1", ERR_INVALID},
		{"<html></html>", "neither <testsuites> nor <testsuite>", ERR_INVALID},
		{"<testcase/>", "neither <testsuites> nor <testsuite>", ERR_INVALID},
		{"<x>" SUITE(CASE("")) "</x>", "neither <testsuites> nor <testsuite>", ERR_INVALID},
		{"<testsuites>" SUITE(CASE("")), "line 1", ERR_INVALID},
		{"<testsuites>\n" SUITE(CASE("")) "\n</testsuites", "line 3", ERR_INVALID},
		{SUITE(CASE("")) SUITE(CASE("")), "line 1", ERR_INVALID},
		{"<!DOCTYPE testsuites><testsuites/>", "<!DOCTYPE>", ERR_INVALID},
		{"<!DOCTYPE a [<!ENTITY b 'c'>]><testsuites>&b;</testsuites>", "<!DOCTYPE>", ERR_INVALID},
		{"<!DOCTYPE a SYSTEM 'file:///etc/passwd'><testsuites/>", "<!DOCTYPE>", ERR_INVALID},
		{SUITE(CASE("&b;")), "line 1", ERR_INVALID},
		{SUITE("<testcase name='\xff'/>"), "line 1", ERR_INVALID},
	};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct err e = ERR_INIT;
		struct junit j;
		if (junit_read(str_from(cases[i].xml), &j, &e) != -1)
			fail_msg("%s is read", cases[i].xml);
		if (e.kind != cases[i].kind || !strstr(e.msg, cases[i].reason) || !strstr(e.msg, "test report: "))
			fail_msg("%s: %s", cases[i].xml, e.msg);
	}
}

// Exceeds LIMIT_XML_DEPTH, LIMIT_JUNIT.
static void nesting_and_size_have_limits(void **state UNUSED)
{
	struct err e = ERR_INIT;
	struct junit j;
	CLEANUP(buf_release) struct buf xml;
	buf_init(&xml, 128 << 20);
	for (int i = 0; i < LIMIT_XML_DEPTH + 1; i++)
		buf_str(&xml, STR("<testsuite>"));
	assert_int_equal(junit_read(buf_view(&xml), &j, &e), -1);
	assert_int_equal(e.kind, ERR_LIMIT);
	buf_clear(&xml);
	buf_str(&xml, STR("<testsuites>"));
	while (xml.len <= LIMIT_JUNIT)
		buf_str(&xml, STR("                                                                "));
	buf_str(&xml, STR("</testsuites>"));
	assert_int_equal(junit_read(buf_view(&xml), &j, &e), -1);
	assert_int_equal(e.kind, ERR_LIMIT);
}

// Reads <testsuite>, so many pieces with a number in each of them, and what ends them.
static int read_pieces(size_t count, const char *begin, const char *before, const char *after, const char *end,
	struct err *e)
{
	CLEANUP(junit_release) struct junit j = {0};
	CLEANUP(buf_release) struct buf xml;
	buf_init(&xml, 128 << 20);
	buf_puts(&xml, begin);
	for (size_t i = 0; i < count; i++)
		buf_printf(&xml, "%s%zu%s", before, i, after);
	buf_puts(&xml, end);
	return junit_read(buf_view(&xml), &j, e);
}

// The parser compares each attribute of an element with those before, and finds names ever slower.
// Exceeds LIMIT_XML_ATTRIBUTES, LIMIT_XML_NAMES, LIMIT_XML_NAMES_TEXT.
static void names_and_attributes_have_limits(void **state UNUSED)
{
	char long_name[200] = "<";
	memset(long_name + 1, 'n', sizeof(long_name) - 2);
	const struct {
		const char *begin, *before, *after, *end;
		size_t good, bad;
		const char *reason;
	} row[] = {
		{"<testsuite", " a", "=''", "/>", LIMIT_XML_ATTRIBUTES, LIMIT_XML_ATTRIBUTES + 1, "attributes"},
		{"<testsuite", " a", "=''", "/>", LIMIT_XML_ATTRIBUTES, 1000000, "names"},
		{"<testsuite>", "<a", "/>", "</testsuite>", LIMIT_XML_NAMES / 2, LIMIT_XML_NAMES + 1, "names"},
		{"<testsuite>", "<?a", "?>", "</testsuite>", LIMIT_XML_NAMES / 2, 1000000, "names"},
		{"<testsuite>", "<a b", "=''/>", "</testsuite>", LIMIT_XML_NAMES / 2, 1000000, "names"},
		{"<testsuite>", long_name, "/>", "</testsuite>", LIMIT_XML_NAMES_TEXT / 4 / sizeof(long_name),
			2 * LIMIT_XML_NAMES_TEXT / sizeof(long_name), "names are too long together"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(row); i++) {
		struct err e = ERR_INIT;
		if (read_pieces(row[i].good, row[i].begin, row[i].before, row[i].after, row[i].end, &e) < 0)
			fail_msg("%zu: %s", i, e.msg);
		assert_int_equal(read_pieces(row[i].bad, row[i].begin, row[i].before, row[i].after, row[i].end, &e),
			-1);
		if (e.kind != ERR_LIMIT || !strstr(e.msg, row[i].reason))
			fail_msg("%zu: %s", i, e.msg);
	}
}

// A mistake ends the reading: what follows it costs nothing.
static void nothing_is_read_after_a_mistake(void **state UNUSED)
{
	struct err e = ERR_INIT;
	assert_int_equal(read_pieces(2000000, "<testsuite>\n", "&a", ";", "</testsuite>", &e), -1);
	assert_int_equal(e.kind, ERR_INVALID);
	assert_non_null(strstr(e.msg, "line 2: Entity 'a0'"));
}

// Exceeds LIMIT_JUNIT_NAME, LIMIT_JUNIT_FAILURES.
static void failures_have_one_harmless_line_each(void **state UNUSED)
{
	struct err e = ERR_INIT;
	CLEANUP(junit_release) struct junit j = {0};
	CLEANUP(buf_release) struct buf xml;
	buf_init(&xml, 1 << 20);
	buf_str(&xml,
		STR("<testsuite><testcase classname='a.B' name='c[1&amp;&#38;&lt;]'><failure message='E  a&#10;b&#9;&#127;c'/>"
		    "</testcase><testcase name='\xc3\xa4"));
	for (int i = 0; i < LIMIT_JUNIT_NAME / 2; i++)
		buf_str(&xml, STR("x\xc3\xa4"));
	buf_str(&xml, STR("'><error/></testcase>"));
	for (int i = 0; i < 2 * LIMIT_JUNIT_FAILURES; i++)
		buf_str(&xml, STR("<testcase name='n'><failure/></testcase>"));
	buf_str(&xml, STR("</testsuite>"));
	if (junit_read(buf_view(&xml), &j, &e) < 0)
		fail_msg("%s", e.msg);
	assert_int_equal(j.failed, 2 + 2 * LIMIT_JUNIT_FAILURES);
	assert_int_equal(j.failures, LIMIT_JUNIT_FAILURES);
	assert_string_equal(j.failure[0].name, "a.B::c[1&&<]");
	assert_string_equal(j.failure[0].message, "E  a b  c");
	assert_true(strlen(j.failure[1].name) <= LIMIT_JUNIT_NAME && strlen(j.failure[1].name) > LIMIT_JUNIT_NAME - 2);
	assert_true(str_is_utf8(str_from(j.failure[1].name)));
	assert_string_equal(j.failure[1].message, "");
	assert_string_equal(j.failure[2].name, "n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reports_are_counted_by_their_elements),
		cmocka_unit_test(what_real_writers_wrote_is_counted),
		cmocka_unit_test(what_is_no_whole_report_is_rejected),
		cmocka_unit_test(what_stands_behind_a_nul_is_no_report),
		cmocka_unit_test(nesting_and_size_have_limits),
		cmocka_unit_test(names_and_attributes_have_limits),
		cmocka_unit_test(nothing_is_read_after_a_mistake),
		cmocka_unit_test(failures_have_one_harmless_line_each),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
