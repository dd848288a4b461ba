// SPDX-License-Identifier: Apache-2.0
// test-requirements.py compares the parsed files with pip. This file tests errors, options and line numbers.
#include "lib/domain/text/requirements-file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lib/base/buf.h"
#include "lib/base/limits.h"

static int describe(void *ctx, const struct requirements_line *line, struct err *e)
{
	static const char *const kind[] = {"", "-r", "-c", "--pre", "-e", "option"};
	if (line->project && strcmp(line->project, "refused") == 0)
		return err_set(e, ERR_USAGE, "the caller refuses it");
	buf_printf(ctx, "%u:%s%s" STR_FMT STR_FMT "\n", line->number, line->project ? line->project : kind[line->kind],
		line->argument.len ? " " : "", STR_ARG(line->argument), STR_ARG(line->specifier));
	return 0;
}

static void test_lines_and_options(void **state UNUSED)
{
	const char *text = "# first\n"
			   "numpy==1.0 \\\n"
			   "  --hash=sha256:00\n"
			   "-r other.txt\n"
			   "--requirement='with blank.txt'\n"
			   "-cconstraints.txt # why\n"
			   "--constraint   c.txt\r\n"
			   "--pre\n"
			   "-i https://user:secret@host.test/simple\n"
			   "Foo.Bar";
	CLEANUP(buf_release) struct buf out;
	struct err e = ERR_INIT;
	buf_init(&out, 4096);
	assert_int_equal(requirements_file_read(str_from(text), "f.txt", describe, &out, &e), 0);
	assert_string_equal(out.data, "2:numpy==1.0\n"
				      "4:-r other.txt\n"
				      "5:-r with blank.txt\n"
				      "6:-c constraints.txt\n"
				      "7:-c c.txt\n"
				      "8:--pre\n"
				      "9:option -i https://user:secret@host.test/simple\n"
				      "10:foo-bar\n");
}

static void test_invalid_lines(void **state UNUSED)
{
	static const struct {
		const char *text, *why;
	} table[] = {
		{"a==1\n\n==1.0\n", "f.txt:3: the line does not begin with a project name"},
		{"a b\n", "f.txt:1: \"b\" is not a specifier (such as ==1.2 or >=1.2,<2)"},
		{"a==1.*.2\n", "f.txt:1: \"==1.*.2\" is not a specifier (such as ==1.2 or >=1.2,<2)"},
		{"a \\\n ==x\n", "f.txt:1: \"==x\" is not a specifier (such as ==1.2 or >=1.2,<2)"},
		{"./a\n", "f.txt:1: the line does not begin with a project name (for a URL write NAME @ URL)"},
		{"dir/a\n", "f.txt:1: the line does not begin with a project name (for a URL write NAME @ URL)"},
		{"https://host.test/a.whl\n",
			"f.txt:1: the line does not begin with a project name (for a URL write NAME @ URL)"},
		{"a @\n", "f.txt:1: no URL after \"@\""},
		{"a;\n", "f.txt:1: no marker after \";\""},
		{"a[b\n", "f.txt:1: the extras have no \"]\" at their end"},
		{"a[b c]\n", "f.txt:1: [b c] is not a list of extras"},
		{"a --hash=x\n", "f.txt:1: \"x\" is not a hash (such as sha256:…)"},
		{"a --config-settings=x\n", "f.txt:1: \"--config-settings=x\" is not an option of a requirement"},
		{"-r\n", "f.txt:1: --requirement needs a value"},
		{"-r ''\n", "f.txt:1: --requirement needs a value"},
		{"--pre=yes\n", "f.txt:1: --pre takes no value"},
		{"--upgrade\n", "f.txt:1: \"--upgrade\" is not an option of a requirements file"},
		{"\n\nrefused\n", "f.txt:3: the caller refuses it"},
		{"\xff", "f.txt:1: not UTF-8 text"}, {"a==1\nb \\\n==\xff\n", "f.txt:3: not UTF-8 text"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		CLEANUP(buf_release) struct buf out;
		struct err e = ERR_INIT;
		buf_init(&out, 4096);
		assert_int_equal(requirements_file_read(str_from(table[i].text), "f.txt", describe, &out, &e), -1);
		assert_int_equal(e.kind, ERR_USAGE);
		assert_string_equal(e.msg, table[i].why);
	}
}

static void test_a_nul_is_named_with_its_line(void **state UNUSED)
{
	struct err e = ERR_INIT;
	CLEANUP(buf_release) struct buf out;
	buf_init(&out, 4096);
	assert_int_equal(requirements_file_read(STR("a==1\nb==2\0\nc==3\n"), "f.txt", describe, &out, &e), -1);
	assert_string_equal(e.msg, "f.txt:2: it has a NUL byte, so it is no text");
}

// Exceeds LIMIT_REQUIREMENT_LINE.
static void test_line_limit(void **state UNUSED)
{
	for (size_t more = 0; more < 2; more++) {
		CLEANUP(buf_release) struct buf text, out;
		struct err e = ERR_INIT;
		buf_init(&text, LIMIT_REQUIREMENT_LINE + 4);
		buf_init(&out, 4096);
		buf_puts(&text, "a");
		while (text.len < LIMIT_REQUIREMENT_LINE + more)
			buf_puts(&text, " ");
		assert_int_equal(requirements_file_read(buf_view(&text), "f", describe, &out, &e), more ? -1 : 0);
		assert_string_equal(e.msg, more ? "f:1: the line is longer than 262144 bytes" : "");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines_and_options),
		cmocka_unit_test(test_invalid_lines),
		cmocka_unit_test(test_a_nul_is_named_with_its_line),
		cmocka_unit_test(test_line_limit),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
