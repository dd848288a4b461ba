// SPDX-License-Identifier: Apache-2.0
#include "lib/domain/text/requirement.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "lib/os/fs.h"
#include "tests/unit/support/vectors.h"

static const char packages[] = "# what always stays\n"
			       "\n"
			       "numpy >=1.26,<2 platform=ubuntu-* keep what the gate needs # and more\n"
			       "Zope.Interface\n"
			       "numpy==1.0.* old branches\r\n"
			       "  q platform=debian-12-x86_64\n"
			       "six keep\n"
			       "torch   keeping it\n"
			       "lxml ===5.1 the same as 5.1.0";

struct requirement_row {
	const char *project, *version, *platform;
	const char *source; // NULL: no line covers it
	const char *reason;
};

static void check_found(const struct requirements *list, const struct requirement_row *rows, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		CLEANUP(version_release) struct version v = {0};
		struct err e = ERR_INIT;
		assert_int_equal(version_parse(str_from(rows[i].version), &v, &e), 0);
		const struct requirement *r = requirements_find(list, rows[i].project, &v, rows[i].platform);
		if (!r != !rows[i].source || (r && strcmp(r->source, rows[i].source) != 0))
			fail_msg("%s %s on %s: %s", rows[i].project, rows[i].version, rows[i].platform,
				r ? r->source : "none");
		if (r && rows[i].reason)
			assert_string_equal(r->reason, rows[i].reason);
	}
}

static void test_packages(void **state UNUSED)
{
	static const struct requirement_row rows[] = {
		{"numpy", "1.26.4", "ubuntu-22.04-x86_64", "list:3", "what the gate needs"},
		{"numpy", "1.26.4", "debian-12-x86_64", NULL, NULL},
		{"numpy", "2.0", "ubuntu-22.04-x86_64", NULL, NULL},
		{"numpy", "1.27rc1", "ubuntu-22.04-x86_64", "list:3", NULL},
		{"numpy", "1.0.7", "debian-12-x86_64", "list:5", "old branches"},
		{"zope-interface", "7.2", "any", "list:4", ""},
		{"q", "2.7", "debian-12-x86_64", "list:6", ""},
		{"q", "2.7", "debian-12-aarch64", NULL, NULL},
		{"six", "1.17", "any", "list:7", ""},
		{"torch", "1+cpu", "any", "list:8", "keeping it"},
		{"lxml", "5.1.0", "any", "list:9", NULL},
		{"lxml", "5.1.1", "any", NULL, NULL},
		{"a", "1", "any", NULL, NULL},
		{"zzz", "1", "any", NULL, NULL},
	};
	CLEANUP(requirements_release) struct requirements list = {0};
	struct err e = ERR_INIT;
	assert_int_equal(requirements_parse(&list, str_from(packages), "list", REQUIREMENT_PACKAGES, &e), 0);
	assert_int_equal(list.count, 7);
	check_found(&list, rows, ARRAY_SIZE(rows));
}

static void test_pins(void **state UNUSED)
{
	static const char text[] = "# comment\n"
				   "numpy===1.24.4;python_version=='3.8'\n"
				   "numpy===1.26.4 ; python_version>='3.9'  # newer\n"
				   "Charset_Normalizer===3.5.2\n"
				   "ansible===2.0.0.0 # its end";
	static const struct requirement_row rows[] = {
		{"numpy", "1.24.4", "any", "pins:2", ""},
		{"numpy", "1.26.4", "any", "pins:3", ""},
		{"numpy", "1.26.4.post1", "any", NULL, NULL},
		{"numpy", "1.26.4+mine", "any", "pins:3", ""},
		{"charset-normalizer", "3.5.2", "any", "pins:4", ""},
	};
	CLEANUP(requirements_release) struct requirements list = {0};
	struct err e = ERR_INIT;
	assert_int_equal(requirements_parse(&list, str_from(text), "pins", REQUIREMENT_CONSTRAINTS, &e), 0);
	check_found(&list, rows, ARRAY_SIZE(rows));
	// A second file adds to the first.
	static const struct requirement_row more[] = {
		{"numpy", "1.24.4", "any", "pins:2", NULL},
		{"numpy", "3", "any", "more:1", NULL},
		{"six", "99", "any", "more:2", NULL},
		{"idna", "2", "any", "more:3", NULL},
		{"idna", "3", "any", NULL, NULL},
		{"q", "0.0", "any", "more:4", NULL},
		{"q", "0.1", "any", NULL, NULL},
	};
	assert_int_equal(requirements_parse(&list, STR("numpy == 3\nsix\nidna<3,>=1\nq === 0.00;x\n"), "more",
				 REQUIREMENT_CONSTRAINTS, &e),
		0);
	check_found(&list, more, ARRAY_SIZE(more));
}

// As lock files and pip's own freeze have them.
static void test_constraints_as_pip_reads_them(void **state UNUSED)
{
	const char *text = "--index-url https://example.org/simple\n"
			   "a==1.0 \\\n"
			   "    --hash=sha256:00 \\\n"
			   "    --hash=sha256:01\n"
			   "b[extra]==2 ; python_version < '3.9'\n"
			   "c @ https://example.org/c-3.whl\n";
	static const struct requirement_row rows[] = {
		{"a", "1.0", "any", "pins:2", ""}, {"a", "1.1", "any", NULL, NULL}, {"b", "2", "any", "pins:5", ""},
		{"c", "3", "any", "pins:6", ""},
		{"c", "4", "any", "pins:6", ""}, // the URL does not say which version it is
	};
	CLEANUP(requirements_release) struct requirements list = {0};
	struct err e = ERR_INIT;
	assert_int_equal(requirements_parse(&list, str_from(text), "pins", REQUIREMENT_CONSTRAINTS, &e), 0);
	check_found(&list, rows, ARRAY_SIZE(rows));
}

static void test_invalid_lines(void **state UNUSED)
{
	static const struct {
		enum requirement_form form;
		const char *text, *message;
	} rows[] = {
		{REQUIREMENT_PACKAGES, "a\n>=1\n", "x:2: the line does not begin with a project name"},
		{REQUIREMENT_PACKAGES, "numpy >= 1.0\n", "x:1: \">=\" is not a specifier (such as ==1.2 or >=1.2,<2)"},
		{REQUIREMENT_PACKAGES, "\n\nnumpy ==1.x keep\n",
			"x:3: \"==1.x\" is not a specifier (such as ==1.2 or >=1.2,<2)"},
		{REQUIREMENT_PACKAGES, "numpy platform= keep\n", "x:1: platform= without a name or glob"},
		{REQUIREMENT_PACKAGES, "numpy[extra] keep\n",
			"x:1: after the name comes neither a blank nor a specifier"},
		{REQUIREMENT_PACKAGES, "numpy, six\n", "x:1: after the name comes neither a blank nor a specifier"},
		{REQUIREMENT_PACKAGES, "_numpy\n", "x:1: the line does not begin with a project name"},
		{REQUIREMENT_PACKAGES, "n\xff\n", "x: not UTF-8 text"},
		{REQUIREMENT_CONSTRAINTS, "-e .\n", "x:1: an editable requirement is not a version of a project"},
		{REQUIREMENT_CONSTRAINTS, "a==1\n-c other.txt\n",
			"x:2: name \"other.txt\" in the configuration: the pruner does not follow -r and -c"},
		{REQUIREMENT_CONSTRAINTS, "https://example.org/a.whl\n",
			"x:1: the line does not begin with a project name (for a URL write NAME @ URL)"},
		{REQUIREMENT_CONSTRAINTS, "a==\n", "x:1: \"==\" is not a specifier (such as ==1.2 or >=1.2,<2)"},
		{REQUIREMENT_CONSTRAINTS, "a==1 b==2\n",
			"x:1: \"==1 b==2\" is not a specifier (such as ==1.2 or >=1.2,<2)"},
		{REQUIREMENT_CONSTRAINTS, "<<<<<<< HEAD\n", "x:1: the line does not begin with a project name"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		CLEANUP(requirements_release) struct requirements list = {0};
		struct err e = ERR_INIT;
		if (requirements_parse(&list, str_from(rows[i].text), "x", rows[i].form, &e) == 0)
			fail_msg("row %zu is accepted", i);
		assert_string_equal(e.msg, rows[i].message);
		assert_int_equal(e.kind, ERR_USAGE);
	}
}

static void test_empty_lists(void **state UNUSED)
{
	CLEANUP(requirements_release) struct requirements list = {0};
	struct err e = ERR_INIT;
	assert_int_equal(requirements_parse(&list, STR(""), "x", REQUIREMENT_PACKAGES, &e), 0);
	assert_int_equal(requirements_parse(&list, STR("#\n \n"), "x", REQUIREMENT_CONSTRAINTS, &e), 0);
	assert_int_equal(list.count, 0);
	check_found(&list, &(const struct requirement_row){"a", "1", "any", NULL, NULL}, 1);
}

static void test_recorded_constraints(void **state UNUSED)
{
	static const struct {
		const char *name;
		size_t count;
	} files[] = {
		{"corpus/constraints/upper-constraints-2024.1.txt", 33},
		{"corpus/constraints/upper-constraints-2025.2.txt", 39},
		{"corpus/constraints/upper-constraints-master.txt", 36},
	};
	CLEANUP(requirements_release) struct requirements list = {0};
	for (size_t i = 0, before = 0; i < ARRAY_SIZE(files); before = list.count, i++) {
		CLEANUP(mem_free) char *path = vectors_path(files[i].name);
		CLEANUP(buf_release) struct buf text;
		struct err e = ERR_INIT;
		buf_init(&text, 1 << 20);
		if (fs_read_file(path, &text, &e) < 0 ||
			requirements_parse(&list, buf_view(&text), path, REQUIREMENT_CONSTRAINTS, &e) < 0)
			fail_msg("%s", e.msg);
		assert_int_equal(list.count - before, files[i].count);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_packages),
		cmocka_unit_test(test_pins),
		cmocka_unit_test(test_constraints_as_pip_reads_them),
		cmocka_unit_test(test_invalid_lines),
		cmocka_unit_test(test_empty_lists),
		cmocka_unit_test(test_recorded_constraints),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
