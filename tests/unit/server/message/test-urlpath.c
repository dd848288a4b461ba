// SPDX-License-Identifier: Apache-2.0
#include "server/message/request.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "lib/base/buf.h"

static const struct {
	const char *raw;
	enum urlpath_result want;
	const char *segments; // each with a "|" behind it
	bool slash;
} paths[] = {
	{"/", URLPATH_GOOD, "", true},
	{"/simple/", URLPATH_GOOD, "simple|", true},
	{"/simple", URLPATH_GOOD, "simple|", false},
	{"/a/b/c/d/e/f", URLPATH_GOOD, "a|b|c|d|e|f|", false},
	{"/a/b/c/d/e/f/", URLPATH_GOOD, "a|b|c|d|e|f|", true},
	{"/files/p/torch/torch-2%2Bcu-py3-none-any.whl", URLPATH_GOOD, "files|p|torch|torch-2+cu-py3-none-any.whl|",
		false},
	{"/a+b/c%2bd/%41", URLPATH_GOOD, "a+b|c+d|A|", false},
	{"/%C3%a9/\xc3\xa9", URLPATH_GOOD, "\xc3\xa9|\xc3\xa9|", false},
	{"/%252e%252e/%252f", URLPATH_GOOD, "%2e%2e|%2f|", false}, // decoded once only
	{"/.hidden/...", URLPATH_GOOD, ".hidden|...|", false},
	{"/a%20b", URLPATH_GOOD, "a b|", false},
	{"", URLPATH_MALFORMED, NULL, false},
	{"simple/", URLPATH_MALFORMED, NULL, false},
	{"/%", URLPATH_MALFORMED, NULL, false},
	{"/%4", URLPATH_MALFORMED, NULL, false},
	{"/%4/a", URLPATH_MALFORMED, NULL, false},
	{"/%zz", URLPATH_MALFORMED, NULL, false},
	{"/%+1", URLPATH_MALFORMED, NULL, false},
	{"/a%00b", URLPATH_MALFORMED, NULL, false},
	{"/a%0d%0aX: y", URLPATH_MALFORMED, NULL, false},
	{"/a\nb", URLPATH_MALFORMED, NULL, false},
	{"/a%7f", URLPATH_MALFORMED, NULL, false},
	{"/%ff", URLPATH_MALFORMED, NULL, false},
	{"/%c0%af", URLPATH_MALFORMED, NULL, false},    // over-long "/"
	{"/%ed%a0%80", URLPATH_MALFORMED, NULL, false}, // surrogate
	{"/%c3/%a9", URLPATH_MALFORMED, NULL, false},
	{"//", URLPATH_UNKNOWN, NULL, false},
	{"/simple//a", URLPATH_UNKNOWN, NULL, false},
	{"/a//", URLPATH_UNKNOWN, NULL, false},
	{"/.", URLPATH_UNKNOWN, NULL, false},
	{"/a/../b", URLPATH_UNKNOWN, NULL, false},
	{"/a/%2e%2E/b", URLPATH_UNKNOWN, NULL, false},
	{"/a/.%2e", URLPATH_UNKNOWN, NULL, false},
	{"/a%2fb", URLPATH_UNKNOWN, NULL, false},
	{"/a%5Cb", URLPATH_UNKNOWN, NULL, false},
	{"/a\\b", URLPATH_UNKNOWN, NULL, false},
	{"/a/b/c/d/e/f/g", URLPATH_UNKNOWN, NULL, false},
};

static void split(void **state)
{
	(void)state;
	static struct urlpath p;
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		CLEANUP(buf_release) struct buf joined;
		buf_init(&joined, LIMIT_PATH);
		enum urlpath_result got = urlpath_parse(str_from(paths[i].raw), &p);
		if (got != paths[i].want)
			fail_msg("'%s': %d", paths[i].raw, (int)got);
		if (got != URLPATH_GOOD)
			continue;
		for (size_t n = 0; n < p.count; n++) {
			assert_int_equal(strlen(p.segment[n].ptr), p.segment[n].len);
			buf_str(&joined, p.segment[n]);
			buf_putc(&joined, '|');
		}
		assert_string_equal(joined.data, paths[i].segments);
		assert_int_equal(p.has_trailing_slash, paths[i].slash);
	}
}

// A path of count segments of len bytes.
static enum urlpath_result parse_long(size_t count, size_t len)
{
	static struct urlpath p;
	CLEANUP(buf_release) struct buf path;
	buf_init(&path, 1 << 20);
	for (size_t i = 0; i < count; i++) {
		buf_putc(&path, '/');
		for (size_t n = 0; n < len; n++)
			buf_putc(&path, 'x');
	}
	// Exactly as long as its allocation, so that the sanitizer sees a byte too many.
	CLEANUP(mem_free) char *tight = xmalloc(path.len);
	memcpy(tight, path.data, path.len);
	return urlpath_parse((struct str){tight, path.len}, &p);
}

// Exceeds LIMIT_SEGMENT.
static void lengths(void **state)
{
	(void)state;
	assert_int_equal(parse_long(1, LIMIT_SEGMENT), URLPATH_GOOD);
	assert_int_equal(parse_long(6, 255), URLPATH_GOOD);
	assert_int_equal(parse_long(1, LIMIT_SEGMENT + 1), URLPATH_UNKNOWN);
	assert_int_equal(parse_long(1, LIMIT_PATH - 1), URLPATH_UNKNOWN);
	assert_int_equal(parse_long(1, LIMIT_PATH), URLPATH_UNKNOWN);
	assert_int_equal(urlpath_parse(STR("/\0"), &(struct urlpath){.count = 0}), URLPATH_MALFORMED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(split), cmocka_unit_test(lengths)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
