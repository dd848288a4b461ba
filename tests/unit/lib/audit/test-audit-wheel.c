// SPDX-License-Identifier: Apache-2.0
// What an audit as a whole holds: oddities, bounds, the report. The cases of each code are in test-audit-checks.c and
// test-audit-libraries.c.
#include "lib/audit/audit-wheel.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lib/base/limits.h"
#include "tests/unit/support/made-facts.h"

static void test_oddities_and_cut_facts(void **state UNUSED)
{
	static const struct audit_policy policy = {0};
	const struct audit_options options = {.policy = &policy};
	struct wheel_odd_member odd[] = {
		{WHEEL_ODDITY_PYC, "demo/a.pyc", NULL},
		{WHEEL_ODDITY_TOP_LEVEL_TESTS, "tests/b.py", NULL},
		{WHEEL_ODDITY_CASE, "demo/A.py", "demo/a.py"},
		{WHEEL_ODDITY_WRITABLE, "demo/c.py", NULL},
		{WHEEL_ODDITY_SBOM, "demo-1.dist-info/sboms/x.json", "no JSON"},
	};
	const struct wheel_facts facts = {
		.odd = odd, .odds = ARRAY_SIZE(odd), .is_cut = true, .cut = "too many members"};
	CLEANUP(audit_report_release) struct audit_report report;
	CLEANUP(buf_release) struct buf found;
	audit_made(&facts, "py3-none-any", &options, &report);
	list_findings(&report, &found);
	assert_string_equal(found.data,
		"warn incomplete -\nwarn junk demo/A.py\nwarn junk demo/a.pyc\nwarn junk tests/b.py\n"
		"warn writable demo/c.py\nwarn sbom demo-1.dist-info/sboms/x.json");
	assert_int_equal(report.warnings, 6);
	assert_non_null(strstr(report.finding[0].why, "too many members"));
	assert_non_null(strstr(report.finding[5].why, "no JSON"));
}

// What is not known is not missing.
static void test_cut_facts_miss_no_library(void **state UNUSED)
{
	static const struct audit_policy policy = {0};
	const struct audit_options options = {.policy = &policy};
	const struct audit_case c = {
		.name = NAME, .elf = {{.path = MODULE, .needed = {"libfoo.so.1"}}}, .expected = ""};
	CLEANUP(made_facts_release) struct made_facts made;
	CLEANUP(audit_report_release) struct audit_report report;
	made_facts_init(&made, &c);
	made.facts.is_cut = true;
	made.facts.cut = "too large";
	audit_made(&made.facts, c.name, &options, &report);
	assert_int_equal(report.errors, 0);
	assert_int_equal(report.count, 1);
	assert_int_equal(report.finding[0].code, AUDIT_INCOMPLETE);
}

// Exceeds LIMIT_AUDIT_FINDINGS.
static void test_a_report_is_bounded_and_clean(void **state UNUSED)
{
	CLEANUP(audit_report_release) struct audit_report report = {0};
	for (int i = 0; i < 3 * LIMIT_AUDIT_FINDINGS; i++)
		audit_report_add(&report, (struct audit_finding){AUDIT_JUNK, i % 3 ? AUDIT_WARN : AUDIT_ERROR, "m",
						  NULL, "a\x1b[2Jb\nc"});
	audit_report_add(&report, (struct audit_finding){AUDIT_JUNK, AUDIT_OFF, "m", NULL, "off"});
	audit_report_finish(&report);
	assert_int_equal(report.count, LIMIT_AUDIT_FINDINGS);
	assert_int_equal(report.errors, LIMIT_AUDIT_FINDINGS);
	assert_int_equal(report.warnings, 2 * LIMIT_AUDIT_FINDINGS);
	assert_int_equal(report.finding[LIMIT_AUDIT_FINDINGS - 1].level, AUDIT_ERROR);
	assert_string_equal(report.finding[0].why, "a?[2Jb?c");
}

// Many files that need many names: the search ends, and says so; what it did not reach is not said to be missing.
static void test_a_search_has_bounded_steps(void **state UNUSED)
{
	enum { MANY = 3000 };
	static const struct audit_policy policy = {0};
	const struct audit_options options = {.policy = &policy};
	struct wheel_facts facts = {.elf = xcalloc(MANY, sizeof(*facts.elf)), .elfs = MANY};
	static const char *needed[MANY];
	static char *paths[MANY];
	CLEANUP(audit_report_release) struct audit_report report;
	for (size_t i = 0; i < MANY; i++)
		needed[i] = "libx.so";
	for (size_t i = 0; i < MANY; i++) {
		paths[i] = xasprintf("demo/d%zu/libx.so", i);
		facts.elf[i] = (struct wheel_elf){.path = paths[i], .sha256 = {(uint8_t)i, (uint8_t)(i >> 8)}};
		facts.elf[i].elf = (struct elf_facts){.machine = X86_64,
			.is_64 = true,
			.is_shared = true,
			.is_dynamic = true,
			.rpath = "$ORIGIN/../d1:$ORIGIN/../d2",
			.needed = {needed, MANY},
			.has_stack_mark = true};
	}
	audit_made(&facts, NAME, &options, &report);
	assert_int_equal(report.count, 1);
	assert_int_equal(report.finding[0].code, AUDIT_TOO_COMPLEX);
	assert_int_equal(report.finding[0].level, AUDIT_ERROR);
	for (size_t i = 0; i < MANY; i++)
		free(paths[i]);
	free(facts.elf);
}

static void test_json(void **state UNUSED)
{
	static const struct audit_policy policy = {0};
	const struct audit_options options = {.policy = &policy};
	const struct wheel_facts facts = {0};
	CLEANUP(audit_report_release) struct audit_report report;
	CLEANUP(buf_release) struct buf out;
	buf_init(&out, LIMIT_PAGE);
	audit_made(&facts, "cp311-cp311-win_amd64", &options, &report);
	audit_report_add(&report, (struct audit_finding){AUDIT_JUNK, AUDIT_WARN, "a\"b", "r", "why"});
	audit_report_finish(&report);
	CLEANUP(jsondoc_cleanup) struct jsondoc *doc = audit_report_json(&report, "demo.whl");
	assert_string_equal(jsondoc_get_str(doc, "filename"), "demo.whl");
	assert_true(jsondoc_is_null(doc, "tag"));
	const struct jsondoc *finding = jsondoc_at(jsondoc_get(doc, "findings"), 0);
	assert_string_equal(jsondoc_get_str(finding, "code"), "junk");
	assert_string_equal(jsondoc_get_str(finding, "level"), "warn");
	assert_string_equal(jsondoc_get_str(finding, "member"), "a\"b");
	assert_string_equal(jsondoc_get_str(finding, "rule"), "r");
	assert_string_equal(jsondoc_get_str(finding, "why"), "why");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_oddities_and_cut_facts),
		cmocka_unit_test(test_cut_facts_miss_no_library),
		cmocka_unit_test(test_a_report_is_bounded_and_clean),
		cmocka_unit_test(test_a_search_has_bounded_steps),
		cmocka_unit_test(test_json),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
