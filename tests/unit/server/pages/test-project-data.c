// SPDX-License-Identifier: Apache-2.0
// What METADATA tells people, also if it is hostile.
#include "server/pages/project-data.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "lib/base/buf.h"
#include "lib/base/limits.h"

static void fields_are_read(void **state UNUSED)
{
	CLEANUP(project_metadata_release) struct project_metadata m = {0};
	project_metadata_read(
		STR("Metadata-Version: 2.4\nName: foo\nSUMMARY:  An example \nSummary: another\n"
		    "Author: UNKNOWN author\nRequires-Python: >=3.9\nRequires-Dist: a>=1\nRequires-Dist: b\n"
		    "Home-page: https://example.org/\nProject-URL: Source, http://example.org/s?a=b&c\n"
		    "Description-Content-Type: text/markdown\n\n# The text\n"),
		&m);
	assert_string_equal(m.summary, "An example");
	assert_string_equal(m.author, "UNKNOWN author");
	assert_string_equal(m.requires_python, ">=3.9");
	assert_int_equal(m.dependencies, 2);
	assert_string_equal(m.dependency[0], "a>=1");
	assert_int_equal(m.links, 2);
	assert_string_equal(m.link[0].label, "Home page");
	assert_string_equal(m.link[1].url, "http://example.org/s?a=b&c");
	assert_string_equal(m.description_type, "text/markdown");
	assert_true(str_eq(m.description, STR("# The text\n")));
	assert_null(m.license);
}

static void the_licence_is_the_best_one_there_is(void **state UNUSED)
{
	static const struct {
		const char *text, *license;
	} table[] = {
		{"Classifier: License :: OSI Approved :: MIT License\n", "OSI Approved :: MIT License"},
		{"Classifier: License :: OSI Approved\nLicense: BSD\n", "BSD"},
		{"License: BSD\nLicense-Expression: MIT OR X\n", "MIT OR X"},
		{"License: Copyright\n        all of it\n", "Copyright"},
		{"License: UNKNOWN\n", NULL},
		{"Classifier: Topic :: X\n", NULL},
	};
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		CLEANUP(project_metadata_release) struct project_metadata m = {0};
		project_metadata_read(str_from(table[i].text), &m);
		if (table[i].license)
			assert_string_equal(m.license, table[i].license);
		else
			assert_null(m.license);
	}
}

static void only_links_of_the_web_are_kept(void **state UNUSED)
{
	CLEANUP(project_metadata_release) struct project_metadata m = {0};
	project_metadata_read(
		STR("Project-URL: A, javascript:alert(1)\nProject-URL: B, https://x/\"onload=\"y\n"
		    "Project-URL: C, data:text/html,x\nProject-URL: D, https://x/ y\nProject-URL: E, //x/\n"
		    "Home-page: UNKNOWN\nProject-URL: https://only.example/\nProject-URL: F, HTTPS://x/\n"),
		&m);
	assert_int_equal(m.links, 1);
	assert_string_equal(m.link[0].url, "https://only.example/");
}

static void a_folded_description_is_unfolded(void **state UNUSED)
{
	CLEANUP(project_metadata_release) struct project_metadata m = {0};
	project_metadata_read(
		STR("Description: first\n        second\n               third\n       |fourth\nName: x\n"), &m);
	assert_true(str_eq(m.description, STR("first\nsecond\n       third\nfourth")));
}

// Exceeds LIMIT_PROJECT_DEPENDENCIES, LIMIT_PROJECT_LINKS, LIMIT_PROJECT_FIELD.
static void numbers_and_lengths_are_bounded(void **state UNUSED)
{
	CLEANUP(project_metadata_release) struct project_metadata m = {0};
	CLEANUP(buf_release) struct buf text;
	buf_init(&text, LIMIT_METADATA);
	for (int i = 0; i < LIMIT_PROJECT_DEPENDENCIES + 5; i++)
		buf_printf(&text, "Requires-Dist: d%d\n", i);
	for (int i = 0; i < LIMIT_PROJECT_LINKS + 5; i++)
		buf_printf(&text, "Project-URL: L%d, https://x/%d\n", i, i);
	buf_puts(&text, "Summary: ");
	for (int i = 0; i < 2 * LIMIT_PROJECT_FIELD; i++)
		buf_putc(&text, 's');
	buf_putc(&text, '\n');
	project_metadata_read(buf_view(&text), &m);
	assert_int_equal(m.dependencies, LIMIT_PROJECT_DEPENDENCIES);
	assert_int_equal(m.links, LIMIT_PROJECT_LINKS);
	assert_true(m.has_more);
	assert_int_equal(strlen(m.summary), LIMIT_PROJECT_FIELD);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fields_are_read),
		cmocka_unit_test(the_licence_is_the_best_one_there_is),
		cmocka_unit_test(only_links_of_the_web_are_kept),
		cmocka_unit_test(a_folded_description_is_unfolded),
		cmocka_unit_test(numbers_and_lengths_are_bounded),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
