// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "lib/domain/wheel/metadata.h"

// Expected result of each strictness. NULL: accepted without a finding; "~TEXT": a finding; "TEXT": an error.
static const struct {
	const char *text, *lenient, *strict;
} table[] = {
	{"Metadata-Version: 2.1\nName: a\nVersion: 1\nLicense-File: x\n", NULL, NULL},
	{"metadata-version: 1.0\r\nNAME: a\r\nversion: 1\r\n", NULL, NULL},
	{"Metadata-Version: 2.6\nName: a\nVersion: 1\n\nName: b\n", NULL, NULL},
	{"Metadata-Version: 2.0\nName: a\nVersion: 1\n", "~2.0", "~2.0"},
	{"Metadata-Version: 2.7\nName: a\nVersion: 1\n", "~2.7", "~2.7"},
	{"Metadata-Version: 3.0\nName: a\nVersion: 1\n", "unknown", "unknown"},
	{"Metadata-Version: 0.9\nName: a\nVersion: 1\n", "unknown", "unknown"},
	{"Metadata-Version: 2\nName: a\nVersion: 1\n", "unknown", "unknown"},
	{"Metadata-Version: 2.1x\nName: a\nVersion: 1\n", "unknown", "unknown"},
	{"Name: a\nVersion: 1\n", "~no Metadata-Version", "no Metadata-Version"},
	{"Metadata-Version: 2.1\nVersion: 1\n", "no Name", "no Name"},
	{"Metadata-Version: 2.1\nName: a\n\nVersion: 1\n", "no Version", "no Version"},
	{"Metadata-Version: 2.1\nName: a\nName: b\nVersion: 1\n", "~several Name", "several Name"},
	{"Metadata-Version: 2.1\nName: a\nVersion: 1\nAuthor: \xe9\n", "~not UTF-8", "not UTF-8"},
	{"", "no Name", "no Name"},
};

static void check_verdict(const char *text, enum strictness strictness, const char *expected)
{
	CLEANUP(findings_release) struct findings findings;
	struct metadata facts;
	struct err e = ERR_INIT;
	findings_init(&findings);
	int result = metadata_parse(str_from(text), strictness, &findings, &facts, &e);
	bool is_finding = expected && expected[0] == '~';
	assert_int_equal(result, expected && !is_finding ? -1 : 0);
	assert_int_equal(findings.count, is_finding ? 1 : 0);
	const char *message = is_finding ? findings.text.data : e.msg;
	if (expected && !strstr(message, expected + is_finding))
		fail_msg("\"%s\" lacks \"%s\"", message, expected);
}

static void test_table(void **state UNUSED)
{
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		check_verdict(table[i].text, LENIENT, table[i].lenient);
		check_verdict(table[i].text, STRICT, table[i].strict);
	}
}

static void test_facts(void **state UNUSED)
{
	CLEANUP(findings_release) struct findings findings;
	struct metadata facts;
	struct err e = ERR_INIT;
	findings_init(&findings);
	struct str text = STR("Metadata-Version: 2.1\r\nName: Foo.Bar\r\nVersion:1.0 "
			      "\r\nRequires-Python: >=3.8, <4\r\n");
	assert_int_equal(metadata_parse(text, STRICT, &findings, &facts, &e), 0);
	assert_true(str_eq(facts.metadata_version, STR("2.1")));
	assert_true(str_eq(facts.name, STR("Foo.Bar")));
	assert_true(str_eq(facts.version, STR("1.0")));
	assert_true(str_eq(facts.requires_python, STR(">=3.8, <4")));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_table),
		cmocka_unit_test(test_facts),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
