// SPDX-License-Identifier: Apache-2.0
#include "server/message/multipart.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/limits.h"

enum { CALLS_MAX = 1 << 20 };

#define TYPE "multipart/form-data; boundary=b"
#define FIELD(name) "Content-Disposition: form-data; name=\"" name "\"\r\n"

// What the callbacks get: [name] or [name|filename|type], the bytes, and "." at the end.
static int tell_begin(void *ctx, const struct multipart_part *part, struct err *e)
{
	struct buf *calls = ctx;
	buf_printf(calls, "[%s", part->name);
	if (part->filename)
		buf_printf(calls, "|%s", part->filename);
	if (part->type)
		buf_printf(calls, "|%s", part->type);
	buf_puts(calls, "]");
	return strcmp(part->name, "unwanted") == 0 ? err_set(e, ERR_DENIED, "unwanted") : 0;
}

static int tell_data(void *ctx, struct str bytes, struct err *e)
{
	if (!bytes.len)
		return err_set(e, ERR_INVALID, "called with nothing");
	buf_str(ctx, bytes);
	return 0;
}

static int tell_end(void *ctx, struct err *e UNUSED)
{
	buf_putc(ctx, '.');
	return 0;
}

static const struct multipart_ops recorder = {tell_begin, tell_data, tell_end};

static int read_in(const char *type, struct str body, size_t piece, struct buf *calls, struct err *e)
{
	struct multipart m;
	int result = 0;
	buf_clear(calls);
	if (multipart_init(&m, type, &recorder, calls, e) < 0)
		return -1;
	for (size_t at = 0; at < body.len && result == 0; at += piece)
		result = multipart_add(&m, str_slice(body, at, piece < body.len - at ? at + piece : body.len), e);
	if (result == 0)
		result = multipart_end(&m, e);
	multipart_release(&m);
	return result;
}

static void check(size_t row, const char *type, struct str body, const char *want, const char *error)
{
	CLEANUP(buf_release) struct buf calls;
	buf_init(&calls, CALLS_MAX);
	for (size_t piece = 1; piece <= body.len + 1; piece += piece < 80 ? 1 : piece) {
		struct err e = ERR_INIT;
		int result = read_in(type, body, piece, &calls, &e);
		if (error ? result == 0 || !strstr(e.msg, error) : result < 0 || strcmp(calls.data, want) != 0)
			fail_msg("row %zu in pieces of %zu: %s %s", row, piece, calls.data, e.msg);
	}
}

static void test_good_bodies(void **state UNUSED)
{
	static const struct {
		struct str body;
		const char *want;
	} table[] = {
		{STR("--b\r\n" FIELD("x") "\r\nhello\r\n--b--\r\n"), "[x]hello."},
		{STR("--b\r\n" FIELD("x") "\r\nhello\r\n--b--"), "[x]hello."},
		{STR("\r\n--b\r\n" FIELD("x") "\r\nhello\r\n--b--\r\nepilogue\r\n--b\r\n"), "[x]hello."},
		{STR("preamble\r\n--c--b\r\n--b\r\n" FIELD("x") "\r\nhello\r\n--b--\r\n"), "[x]hello."},
		{STR("--b \t\r\n" FIELD("x") "\r\n1\r\n--b\t\r\n" FIELD("y") "\r\n2\r\n--b--  \r\n"), "[x]1.[y]2."},
		{STR("--b\r\n" FIELD("x") "\r\n\r\n--b\r\n" FIELD("y") "\r\n\r\n--b--"), "[x].[y]."},
		{STR("--b\r\n" FIELD("x") "\r\n\r\n\r\n\r\n--b--"), "[x]\r\n\r\n."},
		{STR("--b\r\n" FIELD("x") "\r\n\r\r\n-\r\n--\r\r\n--\r\n--c\r\n--\n--b\n\r\n--b--"),
			"[x]\r\r\n-\r\n--\r\r\n--\r\n--c\r\n--\n--b\n."},
		{STR("--b--\r\n"), ""},
		{STR("--b\r\nX: y\r\ncontent-disposition:form-data;NAME=x;FileName=y.whl\r\nCONTENT-TYPE: a/b; c=d\r\n\r\nhi\r\n--b--"),
			"[x|y.whl|a/b; c=d]hi."},
		{STR("--b\r\nContent-Disposition: form-data; filename=\"a b;\\\"c\\\\d.whl\"; other=1; name=\"x\"\r\n\r\n\r\n--b--"),
			"[x|a b;\"c\\d.whl]."},
		{STR("--b\r\nContent-Disposition: form-data; name=\"x\"; filename=\"C:\\x\\y.whl\"\r\n\r\n\r\n--b--"),
			"[x|C:\\x\\y.whl]."},
		{STR("--b\r\nContent-Disposition: form-data; name=\"x\"; filename=\"\"\r\n\r\n\r\n--b--"), "[x|]."},
		{STR("--b\r\nContent-Disposition: form-data; name=\"\"\r\n\r\n\r\n--b--"), "[]."},
		{STR("--b\r\nContent-Disposition: form-data; name=:action;\r\n\r\nfile_upload\r\n--b--"),
			"[:action]file_upload."},
		{STR("--b\r\nContent-Disposition: form-data; name*=utf-8''na%C3%AFve; filename*=UTF-8'en'%2E%2e%2f\r\n\r\n\r\n--b--"),
			"[na\xc3\xafve|../]."},
		{STR("--b\r\n" FIELD("x") "Content-Transfer-Encoding: Binary\r\n\r\n1\r\n--b--"), "[x]1."},
		{STR("--b\r\nContent-Type: text/plain\r\n" FIELD("f\xc3\xb6\xc3\xb6") "\r\n1\r\n--b--"),
			"[f\xc3\xb6\xc3\xb6|text/plain]1."},
	};
	for (size_t i = 0; i < ARRAY_SIZE(table); i++)
		check(i, TYPE, table[i].body, table[i].want, NULL);
}

static void test_bad_bodies(void **state UNUSED)
{
	static const struct {
		struct str body;
		const char *error;
	} table[] = {
		{STR(""), "ends before"},
		{STR("no boundary at all"), "ends before"},
		{STR("--b"), "ends before"},
		{STR("--b-"), "ends before"},
		{STR("--b\n" FIELD("x") "\r\n"), "followed by"},
		{STR("--b\r\r\n"), "followed by"},
		{STR("--b-\r\n"), "followed by"},
		{STR("--b --\r\n"), "followed by"},
		{STR("--bc\r\n" FIELD("x") "\r\n\r\n--bc--"), "followed by"},
		{STR("--b\r\n" FIELD("x")), "ends before"},
		{STR("--b\r\n" FIELD("x") "\r\nhello"), "ends before"},
		{STR("--b\r\n" FIELD("x") "\r\nhello\r\n--b"), "ends before"},
		{STR("--b\r\n" FIELD("x") "\r\nhello\r\n--b\r\n"), "ends before"},
		{STR("--b\r\n\r\nhello\r\n--b--"), "no name"},
		{STR("--b\r\nContent-Disposition: form-data\r\n\r\n\r\n--b--"), "no name"},
		{STR("--b\r\nContent-Disposition: form-data; filename=x\r\n\r\n\r\n--b--"), "no name"},
		{STR("--b\r\nContent-Disposition: attachment; name=x\r\n\r\n\r\n--b--"), "form-data is wanted"},
		{STR("--b\r\n" FIELD("x") FIELD("y") "\r\n\r\n--b--"), "form-data is wanted"},
		{STR("--b\r\nContent-Disposition: form-data; name=x; name=y\r\n\r\n\r\n--b--"), "name is there twice"},
		{STR("--b\r\nContent-Disposition: form-data; name=x; filename=a; filename*=utf-8''b\r\n\r\n\r\n--b--"),
			"filename is there twice"},
		{STR("--b\r\nContent-Disposition: form-data; name=x; filename*=latin-1''b\r\n\r\n\r\n--b--"),
			"not UTF-8"},
		{STR("--b\r\nContent-Disposition: form-data; name=x; filename*=utf-8\r\n\r\n\r\n--b--"), "not UTF-8"},
		{STR("--b\r\nContent-Disposition: form-data; name=x; filename*=utf-8''%4\r\n\r\n\r\n--b--"), "bad %"},
		{STR("--b\r\nContent-Disposition: form-data; name=x; filename*=utf-8''%zz\r\n\r\n\r\n--b--"), "bad %"},
		{STR("--b\r\nContent-Disposition: form-data; name=x; filename*=utf-8''a%00b\r\n\r\n\r\n--b--"),
			"control characters"},
		{STR("--b\r\nContent-Disposition: form-data; name=x; filename*=utf-8''a%0d%0ab\r\n\r\n\r\n--b--"),
			"control characters"},
		{STR("--b\r\nContent-Disposition: form-data; name=\"\xff\"\r\n\r\n\r\n--b--"), "not UTF-8"},
		{STR("--b\r\nContent-Disposition: form-data; name=\"x\r\n\r\n\r\n--b--"),
			"a quoted value without closing quote"},
		{STR("--b\r\nContent-Disposition: form-data; name=\"x\" y\r\n\r\n\r\n--b--"), "no semicolon"},
		{STR("--b\r\nContent-Disposition: form-data; name=\r\n\r\n\r\n--b--"), "without value"},
		{STR("--b\r\nContent-Disposition: form-data; name\r\n\r\n\r\n--b--"), "without value"},
		{STR("--b\r\nContent-Disposition: form-data;\r\n name=x\r\n\r\n\r\n--b--"), "no field"},
		{STR("--b\r\n" FIELD("x") "X: y\nX: z\r\n\r\n\r\n--b--"), "a line without CR"},
		{STR("--b\r\n" FIELD("x") "X: y\rz\r\n\r\n\r\n--b--"), "control characters"},
		{STR("--b\r\n" FIELD("x\0y") "\r\n\r\n--b--"), "control characters"},
		{STR("--b\r\n" FIELD("x") "nonsense\r\n\r\n\r\n--b--"), "no field"},
		{STR("--b\r\n" FIELD("x") ": y\r\n\r\n\r\n--b--"), "no field"},
		{STR("--b\r\n" FIELD("x") "Content-Transfer-Encoding: base64\r\n\r\n\r\n--b--"),
			"base64 is not understood"},
		{STR("--b\r\n" FIELD("x") "Content-Type: a/b\r\nContent-Type: a/c\r\n\r\n\r\n--b--"),
			"Content-Type is there twice"},
		{STR("--b\r\n" FIELD("unwanted") "\r\nhello\r\n--b--"), "unwanted"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(table); i++)
		check(i, TYPE, table[i].body, NULL, table[i].error);
}

static void test_content_types(void **state UNUSED)
{
	static const struct {
		const char *type;
		const char *error;
	} table[] = {
		{"multipart/form-data; boundary=b", NULL},
		{"Multipart/Form-Data;BOUNDARY=\"b\"", NULL},
		{"multipart/form-data ; charset=utf-8 ; boundary = b ; x=\"y;z\"", NULL},
		{NULL, "is wanted"},
		{"", "is wanted"},
		{"application/json", "is wanted"},
		{"multipart/mixed; boundary=b", "is wanted"},
		{"multipart/form-data", "no boundary"},
		{"multipart/form-data; boundary=", "without value"},
		{"multipart/form-data; boundary=\"\"", "a bad boundary"},
		{"multipart/form-data; boundary=\"b \"", "a bad boundary"},
		{"multipart/form-data; boundary=\"a\\\\b\"", "a bad boundary"},
		{"multipart/form-data; boundary=b; boundary=c", "a bad boundary"},
		{"multipart/form-data; boundary=bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb",
			"a bad boundary"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(table); i++)
		check(i, table[i].type, STR("--b\r\n" FIELD("x") "\r\nhello\r\n--b--\r\n"), "[x]hello.",
			table[i].error);
	static const char longest[] = "'()+_,-./:=? 0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTU";
	assert_int_equal(strlen(longest), MULTIPART_BOUNDARY);
	CLEANUP(mem_free) char *type = xasprintf("multipart/form-data; boundary=\"%s\"", longest);
	CLEANUP(mem_free) char *body = xasprintf("--%s\r\n" FIELD("x") "\r\nhello\r\n--%s--", longest, longest);
	check(99, type, str_from(body), "[x]hello.", NULL);
}

static int read_repeated(const char *begin, const char *repeated, size_t times, const char *end, enum err_kind want)
{
	CLEANUP(buf_release) struct buf body, calls;
	struct err e = ERR_INIT;
	buf_init(&body, CALLS_MAX);
	buf_init(&calls, CALLS_MAX);
	buf_puts(&body, begin);
	for (size_t i = 0; i < times; i++)
		buf_puts(&body, repeated);
	buf_puts(&body, end);
	assert_false(body.failed);
	int result = read_in(TYPE, buf_view(&body), 1000, &calls, &e);
	return result < 0 ? e.kind == want : want == ERR_NONE;
}

// Exceeds LIMIT_PARTS, LIMIT_PART_HEADER, LIMIT_MULTIPART_OUTSIDE.
static void test_limits(void **state UNUSED)
{
	const char *part = "\r\n--b\r\n" FIELD("x") "\r\n";
	assert_true(read_repeated("", part, LIMIT_PARTS, "\r\n--b--", ERR_NONE));
	assert_true(read_repeated("", part, LIMIT_PARTS + 1, "\r\n--b--", ERR_LIMIT));
	assert_true(read_repeated("--b\r\n" FIELD("x"), "X: y\r\n", LIMIT_PART_HEADER / 6 - 10, "\r\n\r\n--b--",
		ERR_NONE));
	assert_true(read_repeated("--b\r\n" FIELD("x"), "X: y\r\n", LIMIT_PART_HEADER / 6, "\r\n\r\n--b--", ERR_LIMIT));
	assert_true(read_repeated("--b\r\n", "x", LIMIT_PART_HEADER + 1, "\r\n\r\n--b--", ERR_LIMIT));
	assert_true(read_repeated("--b", " ", LIMIT_PART_HEADER - 2, "\r\n" FIELD("x") "\r\n\r\n--b--", ERR_NONE));
	assert_true(read_repeated("--b", " ", LIMIT_PART_HEADER + 1, "\r\n" FIELD("x") "\r\n\r\n--b--", ERR_LIMIT));
	assert_true(read_repeated("", "\r", LIMIT_MULTIPART_OUTSIDE - 10, "\r\n--b--", ERR_NONE));
	assert_true(read_repeated("", "\r", LIMIT_MULTIPART_OUTSIDE + 1, "\r\n--b--", ERR_LIMIT));
	assert_true(read_repeated("--b--", "\r\n--b", LIMIT_MULTIPART_OUTSIDE / 5 - 10, "", ERR_NONE));
	assert_true(read_repeated("--b--", "\r\n--b", LIMIT_MULTIPART_OUTSIDE / 5 + 1, "", ERR_LIMIT));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good_bodies),
		cmocka_unit_test(test_bad_bodies),
		cmocka_unit_test(test_content_types),
		cmocka_unit_test(test_limits),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
