// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "lib/base/buf.h"
#include "lib/base/limits.h"
#include "lib/domain/text/filename.h"
#include "tests/unit/support/vectors.h"

static struct filename parse_valid(struct str text)
{
	struct filename f;
	struct err e = ERR_INIT;
	if (filename_parse(text, &f, &e) < 0)
		fail_msg(STR_FMT ": %s", STR_ARG(text), e.msg);
	return f;
}

static void assert_rejected(struct str text, const char *reason)
{
	struct filename f;
	struct err e = ERR_INIT;
	if (filename_parse(text, &f, &e) == 0)
		fail_msg("\"" STR_FMT "\" was accepted as version %s of %s", STR_ARG(text), f.version.text, f.project);
	assert_int_equal(e.kind, ERR_INVALID);
	if (!strstr(e.msg, reason))
		fail_msg("\"" STR_FMT "\": \"%s\" lacks \"%s\"", STR_ARG(text), e.msg, reason);
}

static void assert_slice(struct str is, const char *should)
{
	if (!str_eq(is, str_from(should)))
		fail_msg("\"" STR_FMT "\" should be \"%s\"", STR_ARG(is), should);
}

static void test_kind(void **state UNUSED)
{
	assert_int_equal(filename_kind(STR("a-1-py3-none-any.whl")), FILENAME_WHEEL);
	assert_int_equal(filename_kind(STR("a-1.tar.gz")), FILENAME_SDIST);
	assert_int_equal(filename_kind(STR("a-1.zip")), FILENAME_SDIST);
	assert_int_equal(filename_kind(STR("a-1-py3.11.egg")), FILENAME_OTHER);
	assert_int_equal(filename_kind(STR("a-1-py3-none-any.WHL")), FILENAME_OTHER);
	assert_int_equal(filename_kind(STR("a-1-py3-none-any.whl.metadata")), FILENAME_OTHER);
	assert_int_equal(filename_kind(STR("")), FILENAME_OTHER);
}

// Names of real files. Each of these oddities occurs on pages of upstream.
static void test_wheels(void **state UNUSED)
{
	static const struct {
		const char *text, *project, *version, *stem, *build, *python, *abi, *platform;
	} table[] = {
		{"MarkupSafe-2.0.1-cp38-cp38-manylinux1_x86_64.whl", "markupsafe", "2.0.1", "MarkupSafe-2.0.1", "",
			"cp38", "cp38", "manylinux1_x86_64"},
		{"zope.interface-7.2-cp313-cp313-win_amd64.whl", "zope-interface", "7.2", "zope.interface-7.2", "",
			"cp313", "cp313", "win_amd64"},
		{"protobuf-4.21.0_rc_1-cp37-abi3-manylinux2014_x86_64.whl", "protobuf", "4.21.0rc1",
			"protobuf-4.21.0_rc_1", "", "cp37", "abi3", "manylinux2014_x86_64"},
		{"cffi-1.0.2-2-cp26-none-win32.whl", "cffi", "1.0.2", "cffi-1.0.2", "2", "cp26", "none", "win32"},
		{"pyzmq-18.1.0-0_py38h16f9016-cp38-cp38-win_amd64.whl", "pyzmq", "18.1.0", "pyzmq-18.1.0",
			"0_py38h16f9016", "cp38", "cp38", "win_amd64"},
		{"pyzmq-15.3.0+fix-cp34-cp34m-win32.whl", "pyzmq", "15.3.0+fix", "pyzmq-15.3.0+fix", "", "cp34",
			"cp34m", "win32"},
		{"isodatetime-1!2.0.0-py3-none-any.whl", "isodatetime", "1!2.0.0", "isodatetime-1!2.0.0", "", "py3",
			"none", "any"},
		{"foo_b\xc3\xa1r-1-py2.py3-none-any.whl", "foo-b\xc3\xa1r", "1", "foo_b\xc3\xa1r-1", "", "py2.py3",
			"none", "any"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		CLEANUP(filename_release) struct filename f = parse_valid(str_from(table[i].text));
		assert_int_equal(f.kind, FILENAME_WHEEL);
		assert_string_equal(f.project, table[i].project);
		assert_string_equal(f.version.text, table[i].version);
		assert_slice(f.stem, table[i].stem);
		assert_slice(f.build, table[i].build);
		assert_slice(f.python, table[i].python);
		assert_slice(f.abi, table[i].abi);
		assert_slice(f.platform, table[i].platform);
	}
}

// Exceeds LIMIT_BUILD_TAG.
static void test_build_numbers(void **state UNUSED)
{
	static const struct {
		const char *text;
		unsigned number;
	} table[] = {
		{"a-1-py3-none-any.whl", 0},
		{"a-1-7b-py3-none-any.whl", 7},
		{"a-1-1073741823-py3-none-any.whl", LIMIT_BUILD_TAG - 1},
		{"a-1-1073741824-py3-none-any.whl", LIMIT_BUILD_TAG - 1},
		{"a-1-99999999999999999999999-py3-none-any.whl", LIMIT_BUILD_TAG - 1},
	};
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		CLEANUP(filename_release) struct filename f = parse_valid(str_from(table[i].text));
		assert_int_equal(filename_build_number(f.build), table[i].number);
	}
}

static void test_sdists(void **state UNUSED)
{
	static const struct {
		const char *text, *project, *version, *stem;
	} table[] = {
		{"q-2.3.tar.gz", "q", "2.3", "q-2.3"},
		{"python-ldap-3.4.4.tar.gz", "python-ldap", "3.4.4", "python-ldap-3.4.4"},
		{"python_ldap-3.4.8.tar.gz", "python-ldap", "3.4.8", "python_ldap-3.4.8"},
		{"setuptools-39.0.1.zip", "setuptools", "39.0.1", "setuptools-39.0.1"},
		{"isodatetime-1!2.0.0.tar.gz", "isodatetime", "1!2.0.0", "isodatetime-1!2.0.0"},
		{"cffi-1.0.2-2.tar.gz", "cffi-1-0-2", "2", "cffi-1.0.2-2"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		CLEANUP(filename_release) struct filename f = parse_valid(str_from(table[i].text));
		assert_int_equal(f.kind, FILENAME_SDIST);
		assert_string_equal(f.project, table[i].project);
		assert_string_equal(f.version.text, table[i].version);
		assert_slice(f.stem, table[i].stem);
		assert_int_equal(f.build.len + f.python.len + f.abi.len + f.platform.len, 0);
	}
}

static void test_rejected(void **state UNUSED)
{
	static const struct {
		const char *text, *reason;
	} table[] = {
		{"a-1-py3.11.egg", "ending"},
		{".whl", "parts"},
		{"a-1-py3-none.whl", "parts"},
		{"a-1-1-py3-none-any-x86_64_v3.whl", "parts"},
		{"-1-py3-none-any.whl", "project name"},
		{"a__b-1-py3-none-any.whl", "project name"},
		{"a+b-1-py3-none-any.whl", "project name"},
		{"a-x-py3-none-any.whl", "version"},
		{"a--py3-none-any.whl", "version"},
		{"a-1-b1-py3-none-any.whl", "build tag"},
		{"a-1--py3-none-any.whl", "build tag"},
		{"a-1-3py-none-any.whl", "python tag"},
		{"a-1-py3.-none-any.whl", "python tag"},
		{"a-1-py3--any.whl", "ABI tag"},
		{"a-1-py3-none-.any.whl", "platform tag"},
		{"../a-1-py3-none-any.whl", "byte 0x2f"},
		{"a\\b-1-py3-none-any.whl", "byte 0x5c"},
		{"a-1\n-py3-none-any.whl", "byte 0x0a"},
		{"a- 1-py3-none-any.whl", "blank"},
		{"a-1\xc2\xa0-py3-none-any.whl", "blank"},
		{"a-1\x7f-py3-none-any.whl", "byte 0x7f"},
		{"a\xff-1-py3-none-any.whl", "UTF-8"},
		{"q.tar.gz", "dash"},
		{"-1.0.zip", "project name"},
		{"q-2.3.macosx-10.8-intel.tar.gz", "version"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(table); i++)
		assert_rejected(str_from(table[i].text), table[i].reason);
	assert_rejected(STR("a\0-1-py3-none-any.whl"), "byte 0x00");
}

// Exceeds LIMIT_FILE_NAME.
static void test_too_long(void **state UNUSED)
{
	char name[LIMIT_FILE_NAME + 2];
	memset(name, 'a', sizeof(name));
	static const char tail[] = "-1-py3-none-any.whl";
	memcpy(name + sizeof(name) - sizeof(tail), tail, sizeof(tail));
	assert_rejected(str_from(name), "longer");
	CLEANUP(filename_release) struct filename f = parse_valid(str_from(name + 1));
	assert_int_equal(strlen(f.project), LIMIT_FILE_NAME - strlen(tail));
}

static void test_sdist_by_its_pkg_info(void **state UNUSED)
{
	static const struct {
		const char *text, *name, *version; // in PKG-INFO
		const char *project, *is;          // NULL: rejected
	} table[] = {
		{"cffi-1.0.2-2.tar.gz", "cffi", "1.0.2", "cffi", "1.0.2.post2"},
		{"zope.event-3.5.0-1.tar.gz", "zope.event", "3.5.0-1", "zope-event", "3.5.0.post1"},
		{"dbus-python-1.2.2-pypi.tar.gz", "dbus-python", "1.2.2", "dbus-python", "1.2.2"},
		{"Pillow-3.1.0-rc1.tar.gz", "Pillow", "3.1.0rc1", "pillow", "3.1.0rc1"},
		{"q-0.00.zip", "q", "0", "q", "0.0"},
		{"q-1.0.tar.gz", "q", "1.1", NULL, NULL},
		{"q-1.0-x.tar.gz", "q", "1.1", NULL, NULL},
		{"q-1.0.tar.gz", "p", "1.0", NULL, NULL},
		{"q-1.0.tar.gz", "q", "x", NULL, NULL},
		{"q-1.0.tar.gz", "", "1.0", NULL, NULL},
		{"q-1.0-py3-none-any.whl", "q", "1.0", NULL, NULL},
		{"q/q-1.0.tar.gz", "q", "1.0", NULL, NULL},
		{"q.tar.gz", "q", "1.0", NULL, NULL},
	};
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		struct filename f = {0};
		struct err e = ERR_INIT;
		int rc = filename_parse_sdist(str_from(table[i].text), str_from(table[i].name),
			str_from(table[i].version), &f, &e);
		if (rc < 0) {
			assert_int_equal(e.kind, ERR_INVALID);
			assert_null(table[i].project);
			continue;
		}
		assert_int_equal(e.kind, ERR_NONE);
		assert_string_equal(f.project, table[i].project);
		assert_string_equal(f.version.text, table[i].is);
		filename_release(&f);
	}
}

// Versions as pip's finder has them for the links of a page.
static void test_names_on_the_page_of_a_project(void **state UNUSED)
{
	static const struct {
		const char *text, *project, *version; // NULL: not of this project
	} table[] = {
		{"cffi-1.0.2-2.tar.gz", "cffi", "1.0.2.post2"},
		{"Foo.Bar-1.0.tar.gz", "foo-bar", "1.0"},
		{"foo-bar-1.0.zip", "foo-bar", "1.0"},
		{"foo-bar-1.0.tar.gz", "foo", NULL}, // "bar-1.0" is no version
		{"foo_bar-1.0-py3-none-any.whl", "foo-bar", "1.0"},
		{"foo_bar-1.0-py3-none-any.whl", "foo", NULL},
		{"foo-1.0-py3-none-any.whl", "foo-1", NULL},
		{"dbus-python-1.2.2-pypi.tar.gz", "dbus-python", NULL},
		{"foo.tar.gz", "foo", NULL},
		{"foo-1.0.exe", "foo", NULL},
		{"foo-1.0 .tar.gz", "foo", NULL},
	};
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		CLEANUP(filename_release) struct filename f = {0};
		struct err e = ERR_INIT;
		int parsed = filename_parse_listed(str_from(table[i].text), table[i].project, &f, &e);
		assert_int_equal(parsed, table[i].version ? 0 : -1);
		assert_int_equal(e.kind, table[i].version ? ERR_NONE : ERR_INVALID);
		if (parsed == 0)
			assert_string_equal(f.version.text, table[i].version);
		if (parsed == 0)
			assert_string_equal(f.project, table[i].project);
	}
}

enum { ROW_INPUT, ROW_VALID, ROW_PROJECT, ROW_VERSION, ROW_BUILD };

// Appends a build tag as in the vectors: [1000, "abc"].
static void add_build(struct str build, struct buf *out)
{
	size_t digits = 0;
	while (digits < build.len && ascii_is_digit(build.ptr[digits]))
		digits++;
	if (build.len)
		buf_printf(out, "[" STR_FMT ", \"" STR_FMT "\"]", (int)digits, build.ptr, (int)(build.len - digits),
			build.ptr + digits);
	else
		buf_puts(out, "[]");
}

static void check_row(void *ctx, const struct vector *row)
{
	CLEANUP(buf_release) struct buf name, build CLEANUP(buf_release);
	buf_init(&name, 4096);
	buf_init(&build, 4096);
	vectors_unquote(row->column[ROW_INPUT], &name);
	if (!str_eq(row->column[ROW_VALID], STR("1"))) {
		assert_rejected(buf_view(&name), "");
		return;
	}
	CLEANUP(filename_release) struct filename f = parse_valid(buf_view(&name));
	assert_true(str_eq(str_from(f.project), row->column[ROW_PROJECT]));
	assert_true(str_eq(str_from(f.version.text), row->column[ROW_VERSION]));
	add_build(f.build, &build);
	if (*(const bool *)ctx)
		assert_true(str_eq(buf_view(&build), row->column[ROW_BUILD]));
}

static void test_wheel_vectors(void **state UNUSED)
{
	bool has_build = true;
	vectors_foreach("wheelnames.tsv", check_row, &has_build);
}

static void test_sdist_vectors(void **state UNUSED)
{
	bool has_build = false;
	vectors_foreach("sdistnames.tsv", check_row, &has_build);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kind),
		cmocka_unit_test(test_wheels),
		cmocka_unit_test(test_build_numbers),
		cmocka_unit_test(test_sdists),
		cmocka_unit_test(test_rejected),
		cmocka_unit_test(test_too_long),
		cmocka_unit_test(test_sdist_by_its_pkg_info),
		cmocka_unit_test(test_names_on_the_page_of_a_project),
		cmocka_unit_test(test_wheel_vectors),
		cmocka_unit_test(test_sdist_vectors),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
