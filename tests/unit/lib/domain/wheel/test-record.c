// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "lib/base/buf.h"
#include "lib/domain/wheel/record.h"

// Each row as "line:path|hash|size;", with the fields as Python's csv.reader() returns them; NULL: rejected.
static const struct {
	const char *text, *rows;
} table[] = {
	{"a,b,c\r\nd,,\n", "1:a|b|c;2:d||;"},
	{"a,b,c\rd,,", "1:a|b|c;2:d||;"},
	{"\"a,b\",x,y\n", "1:a,b|x|y;"},
	{"\"a\"\"b\",x,\"y\"", "1:a\"b|x|y;"},
	{"\"a\"z,x,y\n", "1:az|x|y;"},
	{"a\"b,x,y\n", "1:a\"b|x|y;"},
	{" \"a\",b,c", "1: \"a\"|b|c;"},
	{"\"\",,\n", "1:||;"},
	{"\n\r\na,,\n", "3:a||;"},
	{"\"a\nb\",,\nc,,\n", "1:a\nb||;3:c||;"},
	{"", ""},
	{"a,b\n", NULL},
	{"a\n", NULL},
	{"a,b,c,d\n", NULL},
	{"\"\"\n", NULL},
	{"\"a,b,c", NULL},
};

static int add_row(void *ctx, const struct record_row *row, struct err *e UNUSED)
{
	buf_printf(ctx, "%zu:" STR_FMT "|" STR_FMT "|" STR_FMT ";", row->line, STR_ARG(row->path), STR_ARG(row->hash),
		STR_ARG(row->size));
	return 0;
}

static void test_rows(void **state UNUSED)
{
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		CLEANUP(buf_release) struct buf seen;
		struct err e = ERR_INIT;
		buf_init(&seen, 1000);
		int result = record_foreach(str_from(table[i].text), add_row, &seen, &e);
		if (result != (table[i].rows ? 0 : -1))
			fail_msg("row %zu: %d %s", i, result, e.msg);
		if (table[i].rows)
			assert_string_equal(seen.data, table[i].rows);
		else
			assert_int_equal(e.kind, ERR_INVALID);
	}
}

static int reject_row(void *ctx, const struct record_row *row UNUSED, struct err *e)
{
	++*(int *)ctx;
	return err_set(e, ERR_CONFLICT, "enough");
}

static void test_callback_ends_reading(void **state UNUSED)
{
	struct err e = ERR_INIT;
	int calls = 0;
	assert_int_equal(record_foreach(STR("a,,\nb,,\n"), reject_row, &calls, &e), -1);
	assert_int_equal(calls, 1);
	assert_int_equal(e.kind, ERR_CONFLICT);
}

// SHA-256 of the empty text.
#define EMPTY "47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU"

static void test_hashes(void **state UNUSED)
{
	static const struct {
		const char *hash;
		enum record_hash kind;
	} hashes[] = {
		{"", RECORD_HASH_NONE},
		{"sha256=" EMPTY, RECORD_HASH_SHA256},
		{"SHA256=" EMPTY, RECORD_HASH_SHA256},
		{"sha256=" EMPTY "=", RECORD_HASH_BAD},                                  // padding
		{"sha256=47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU", RECORD_HASH_BAD}, // other alphabet
		{"sha256=47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFV", RECORD_HASH_BAD}, // stray bits
		{"sha256=" EMPTY EMPTY, RECORD_HASH_BAD},
		{"sha256=", RECORD_HASH_BAD},
		{"sha256", RECORD_HASH_BAD},
		{EMPTY, RECORD_HASH_BAD},
		{"md5=1B2M2Y8AsgTpgAmY7PhCfg", RECORD_HASH_BAD},
		{"sha384=" EMPTY "47DEQpj8HBSa-_TImW-5J", RECORD_HASH_BETTER},
		{"sha512=" EMPTY, RECORD_HASH_BAD},
	};
	uint8_t sha256[SHA256_SIZE], empty[SHA256_SIZE];
	digest_sha256(STR(""), empty);
	for (size_t i = 0; i < ARRAY_SIZE(hashes); i++) {
		enum record_hash kind = record_hash_decode(str_from(hashes[i].hash), sha256);
		if (kind != hashes[i].kind)
			fail_msg("\"%s\" is %d", hashes[i].hash, (int)kind);
		if (kind == RECORD_HASH_SHA256)
			assert_memory_equal(sha256, empty, SHA256_SIZE);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_callback_ends_reading),
		cmocka_unit_test(test_hashes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
