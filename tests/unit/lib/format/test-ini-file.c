// SPDX-License-Identifier: Apache-2.0
#include "lib/format/ini-file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "lib/base/buf.h"
#include "lib/base/limits.h"

static char path[] = "test-ini-file.XXXXXX";

static int make_file(void **state UNUSED)
{
	return close(mkstemp(path));
}

static int remove_file(void **state UNUSED)
{
	return unlink(path);
}

static int write_down(void *ctx, const struct ini_file_line *line, struct err *e)
{
	if (line->key && strcmp(line->key, "bad") == 0)
		return err_set(e, ERR_USAGE, "bad key");
	if (line->key)
		buf_printf(ctx, "%s/%s=%s|", line->section, line->key, line->value);
	else
		buf_printf(ctx, "[%s]|", line->section);
	return 0;
}

static int read_bytes(struct str text, struct buf *seen, struct err *e)
{
	FILE *f = fopen(path, "w");
	assert_non_null(f);
	assert_int_equal(fwrite(text.ptr, 1, text.len, f), text.len);
	fclose(f);
	return ini_file_read_file(path, write_down, seen, e);
}

static void reads_sections_and_keys(void **state UNUSED)
{
	static const struct {
		const char *text, *wanted;
	} cases[] = {
		{"", ""},
		{"\n\n  \n", ""},
		{"[a]\nk = v\n", "[a]|a/k=v|"},
		{"[a]\nk = v", "[a]|a/k=v|"},
		{"[a]\r\nk=v\r\n\r\n[b]\r\n", "[a]|a/k=v|[b]|"},
		{"\xef\xbb\xbf[a]\n", "[a]|"},
		{"k: v\n", "/k=v|"},
		{"k : a=b\n", "/k=a=b|"},
		{"k = a:b\n", "/k=a:b|"},
		{"k =\n", "/k=|"},
		{"= v\n", "/=v|"},
		{"\tk\t=\t v  w \t\n", "/k=v  w|"},
		{"# no\n; no\n  # no\n\t;no = 1\n", ""},
		{"k = v ; comment\n", "/k=v|"},
		{"k\t=\tv\tw\t# comment\n", "/k=v w|"},
		{"[A]\nUrl: V\n", "[A]|A/url=V|"},
		{"k = v;w ;c ;d\n", "/k=v;w|"},
		{"k = ; comment\n", "/k=|"},
		{"k = v # comment\n", "/k=v|"},
		{"k = v#w #c #d\n", "/k=v#w|"},
		{"k = # comment\n", "/k=|"},
		{"[a b] # comment\nk = v\n", "[a b]|a b/k=v|"},
		{"k =\n  v\n  w\n", "/k=v|/k=w|"},
		{"k = # comment\n\n  # comment\n  v # comment\n", "/k=v|"},
		{"k =\n\nl = v\n", "/k=|/l=v|"},
		{"k =\n[a]\n", "/k=|[a]|"},
		{"k =\nl =\n  v", "/k=|/l=v|"},
		{"[a b] ; comment\nk = v\n", "[a b]|a b/k=v|"},
		{"[a]]\n", "[a]|"},
		{"[]\n", "[]|"},
		{"  [a]\n", "[a]|"},
		{"[a]\n  k = v\n", "[a]|a/k=v|"},
		{"[a]\nk = v\n  w\n\tx = y\n", "[a]|a/k=v|a/k=w|a/k=x = y|"},
		{"k = v\n# comment\n\n  w ; comment\n", "/k=v|/k=w|"},
		{"k = v\n  [w]\n", "/k=v|/k=[w]|"},
		{"k = v\n  # no\n", "/k=v|"},
		{"[a]\nk = v\n[b]\n  l = w\n", "[a]|a/k=v|[b]|b/l=w|"},
		{"k = v\v\f\n", "/k=v|"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct err e = ERR_INIT;
		CLEANUP(buf_release) struct buf seen;
		buf_init(&seen, 4096);
		if (read_bytes(str_from(cases[i].text), &seen, &e) < 0)
			fail_msg("%s: %s", cases[i].text, e.msg);
		if (strcmp(seen.data, cases[i].wanted) != 0)
			fail_msg("%s: %s, not %s", cases[i].text, seen.data, cases[i].wanted);
	}
}

static void the_first_mistake_is_named(void **state UNUSED)
{
	static const struct {
		const char *text, *wanted;
	} cases[] = {
		{"[a]\nk\n", ":2: neither a [section] nor a key = value"},
		{"[a]\n\nk ; = v\n", ":3: neither a [section] nor a key = value"},
		{"k\n[a\n", ":1: neither a [section] nor a key = value"},
		{"[a\n", ":1: neither a [section] nor a key = value"},
		{"[a ; ]\n", ":1: neither a [section] nor a key = value"},
		{"k = v\nbad = 1\nk\n", ":2: bad key"},
		{"bad = 1", ":1: bad key"},
		{"bad =\n\nk = v\n", ":1: bad key"},
		{"k = v\nbad =\n\n", ":2: bad key"},
		{"bad =\n\n  v\n", ":3: bad key"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct err e = ERR_INIT;
		CLEANUP(buf_release) struct buf seen;
		CLEANUP(mem_free) char *wanted = xasprintf("%s%s", path, cases[i].wanted);
		buf_init(&seen, 4096);
		assert_int_equal(read_bytes(str_from(cases[i].text), &seen, &e), -1);
		assert_int_equal(e.kind, ERR_USAGE);
		assert_string_equal(e.msg, wanted);
	}
}

static void long_lines_are_whole(void **state UNUSED)
{
	static const size_t lengths[] = {190, 200, 10 << 10, LIMIT_CONFIG_LINE};
	for (size_t i = 0; i < ARRAY_SIZE(lengths); i++) {
		struct err e = ERR_INIT;
		CLEANUP(buf_release) struct buf text, seen;
		buf_init(&text, LIMIT_CONFIG);
		buf_init(&seen, LIMIT_CONFIG);
		buf_puts(&text, "[a]\n# ");
		for (size_t k = 0; k < 2 * (size_t)LIMIT_CONFIG_LINE; k++) // a comment has no limit
			buf_putc(&text, '#');
		buf_puts(&text, "\nk = ");
		for (size_t k = 4; k < lengths[i]; k++)
			buf_putc(&text, 'v');
		buf_puts(&text, "\nl = w\n");
		assert_int_equal(read_bytes(buf_view(&text), &seen, &e), 0);
		assert_int_equal(seen.len, strlen("[a]|a/k=|a/l=w|") + lengths[i] - 4);
		assert_true(str_ends(buf_view(&seen), STR("vv|a/l=w|")));
	}
}

// Exceeds LIMIT_CONFIG_LINE.
static void a_longer_line_is_named(void **state UNUSED)
{
	struct err e = ERR_INIT;
	CLEANUP(buf_release) struct buf text, seen;
	CLEANUP(mem_free) char *wanted = xasprintf("%s:2: longer than 65536 bytes", path);
	buf_init(&text, LIMIT_CONFIG);
	buf_init(&seen, LIMIT_CONFIG);
	buf_puts(&text, "[a]\nk = ");
	for (size_t k = 4; k <= LIMIT_CONFIG_LINE; k++)
		buf_putc(&text, 'v');
	assert_int_equal(read_bytes(buf_view(&text), &seen, &e), -1);
	assert_string_equal(e.msg, wanted);
	assert_string_equal(seen.data, "[a]|");
}

static void nul_is_refused(void **state UNUSED)
{
	struct err e = ERR_INIT;
	CLEANUP(buf_release) struct buf seen;
	CLEANUP(mem_free) char *wanted = xasprintf("%s: holds a NUL byte", path);
	buf_init(&seen, 64);
	assert_int_equal(read_bytes(STR("k = v\0w\n"), &seen, &e), -1);
	assert_string_equal(e.msg, wanted);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_sections_and_keys),
		cmocka_unit_test(the_first_mistake_is_named),
		cmocka_unit_test(long_lines_are_whole),
		cmocka_unit_test(a_longer_line_is_named),
		cmocka_unit_test(nul_is_refused),
	};
	return cmocka_run_group_tests(tests, make_file, remove_file);
}
