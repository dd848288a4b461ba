// SPDX-License-Identifier: Apache-2.0
#include "lib/state/store/quota.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>


enum { MOST = 1000 };
#define ANY UINT64_MAX

static const struct {
	uint64_t quota_files, quota_bytes, files, bytes, free, incoming;
	enum err_kind kind;
	const char *words;
} rows[] = {
	{0, 0, 1 << 30, 1ULL << 60, ANY, MOST, ERR_NONE, NULL},
	{0, 0, 0, 0, ANY, MOST + 1, ERR_LIMIT, "a file of 1001 bytes: the limit is 1000; the operator raises it: [upload] max-file"},
	{5, 0, 4, 0, ANY, 1, ERR_NONE, NULL},
	{5, 0, 5, 0, ANY, 1, ERR_FULL, "platform p is full: it has 5 files of 5; the operator prunes it, or raises quota-files"},
	{5, 0, 9, 0, ANY, 0, ERR_FULL, "platform p is full: it has 9 files of 5; the operator prunes it, or raises quota-files"},
	{0, 100, 0, 40, ANY, 60, ERR_NONE, NULL},
	{0, 100, 0, 40, ANY, 61, ERR_FULL, "platform p is full: it has 40 bytes of 100, and 61 more do not fit; the operator prunes it, or raises quota-bytes"},
	{0, 100, 0, 0, ANY, 101, ERR_FULL, "platform p is full: it has 0 bytes of 100, and 101 more do not fit; the operator prunes it, or raises quota-bytes"},
	{0, 100, 0, UINT64_MAX, ANY, 1, ERR_FULL,
		"platform p is full: it has 18446744073709551615 bytes of 100, and 1 more do not fit; the operator prunes it, or raises quota-bytes"},
	{0, 0, 0, 0, (1 << 20) + 9, 9, ERR_NONE, NULL},
	{0, 0, 0, 0, (1 << 20) + 9, 10, ERR_FULL,
		"platform p is full: its disk has 1048585 bytes left, and 10 more do not fit; the operator makes room"},
	{0, 0, 0, 0, 0, 0, ERR_FULL, "platform p is full: its disk has 0 bytes left, and 0 more do not fit; the operator makes room"},
};

static void each_limit_is_kept(void **state UNUSED)
{
	char name[] = "p";
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct platform p = {
			.name = name, .quota_files = rows[i].quota_files, .quota_bytes = rows[i].quota_bytes};
		struct quota_use use = {.files = rows[i].files, .bytes = rows[i].bytes, .free = rows[i].free};
		struct err e = ERR_INIT;
		int result = quota_check(&p, MOST, &use, rows[i].incoming, &e);
		if (result != (rows[i].kind ? -1 : 0) || e.kind != rows[i].kind ||
			strcmp(e.msg, rows[i].words ? rows[i].words : "") != 0)
			fail_msg("row %zu: %d %s", i, result, e.msg);
	}
}

static void the_fuller_one_counts(void **state UNUSED)
{
	struct platform p = {.quota_files = 10, .quota_bytes = 1000};
	assert_int_equal(quota_percent(&p, &(struct quota_use){.files = 9, .bytes = 10}), 90);
	assert_int_equal(quota_percent(&p, &(struct quota_use){.files = 1, .bytes = 999}), 99);
	assert_int_equal(quota_percent(&p, &(struct quota_use){.files = 11, .bytes = 0}), 110);
	assert_int_equal(quota_percent(&p, &(struct quota_use){.bytes = UINT64_MAX}), 999);
	assert_int_equal(quota_percent(&(struct platform){0}, &(struct quota_use){.files = 9}), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_limit_is_kept),
		cmocka_unit_test(the_fuller_one_counts),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
