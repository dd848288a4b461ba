// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lib/base/buf.h"
#include "lib/domain/text/version.h"
#include "tests/unit/support/vectors.h"

static struct version parse_valid(struct str text)
{
	struct version v;
	struct err e = ERR_INIT;
	if (version_parse(text, &v, &e) < 0)
		fail_msg("%s", e.msg);
	return v;
}

static void test_normal_form(void **state UNUSED)
{
	static const struct {
		const char *text, *normal;
		bool is_prerelease, is_local;
	} table[] = {
		{"1.0", "1.0", false, false},
		{" V01.00\n", "1.0", false, false},
		{"0!1", "1", false, false},
		{"007!1", "7!1", false, false},
		{"4.21.0_rc_1", "4.21.0rc1", true, false},
		{"1-alpha", "1a0", true, false},
		{"1.PREVIEW-", "1rc0", true, false},
		{"1a--1", "1a0.post1", true, false},
		{"1.0-2", "1.0.post2", false, false},
		{"1r", "1.post0", false, false},
		{"1.rev3.dev", "1.post3.dev0", true, false},
		{"1+Ubuntu_01-0a", "1+ubuntu.1.0a", false, true},
		{"123456789012345678901234567890", "123456789012345678901234567890", false, false},
		{"\xe3\x80\x80 1\xc2\x85", "1", false, false},
	};
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		CLEANUP(version_release) struct version v = parse_valid(str_from(table[i].text));
		assert_string_equal(v.text, table[i].normal);
		assert_int_equal(v.is_prerelease, table[i].is_prerelease);
		assert_int_equal(v.is_local, table[i].is_local);
	}
}

static void test_invalid(void **state UNUSED)
{
	static const char *const table[] = {"", "v", "x", "1.", ".1", "1..2", "1.0-", "1.x", "1!", "!1", "1+", "1+a..b",
		"1+a.", "1+.a", "1 0", "1.0a1a2", "1.0.dev1.post1", "1+a+b", "1.0+\xc4\xb0", "1\xff", "french toast"};
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		struct version v;
		struct err e = ERR_INIT;
		if (version_parse(str_from(table[i]), &v, &e) == 0)
			fail_msg("\"%s\" became %s", table[i], v.text);
		assert_int_equal(e.kind, ERR_INVALID);
		assert_false(version_is_valid(str_from(table[i])));
	}
	assert_false(version_is_valid(STR("1\0")));
}

// In ascending order; versions in one row are equal.
static const char *const ladder[][3] = {
	{"0.dev0", "0.0.dev", NULL},
	{"0", "0.0.0", "0!0"},
	{"1.dev0", "1.0.dev0", NULL},
	{"1a0.dev1", NULL, NULL},
	{"1a0", "1.0alpha", "1.0.0-A.0"},
	{"1a1", NULL, NULL},
	{"1b0", NULL, NULL},
	{"1rc1", "1c1", "1.preview_1"},
	{"1rc1.post0", NULL, NULL},
	{"1", "1.0", "v1.0.0"},
	{"1+a", "1.0+A", NULL},
	{"1+a.b", "1+a-b", NULL},
	{"1+ab", NULL, NULL},
	{"1+0", "1+00", NULL},
	{"1+0.a", NULL, NULL},
	{"1+0.0", NULL, NULL},
	{"1+9", NULL, NULL},
	{"1+10", NULL, NULL},
	{"1.post0.dev1", NULL, NULL},
	{"1.post0", "1-0", "1.r"},
	{"1.0.1", NULL, NULL},
	{"1.9", NULL, NULL},
	{"1.10", NULL, NULL},
	{"1.10.0.1", NULL, NULL},
	{"2", NULL, NULL},
	{"99999999999999999999", NULL, NULL},
	{"100000000000000000000", NULL, NULL},
	{"1!0.dev0", NULL, NULL},
	{"10!0", NULL, NULL},
};

static int sign(int n)
{
	return (n > 0) - (n < 0);
}

static void check_order(const char *a, size_t rank_a, const char *b, size_t rank_b)
{
	CLEANUP(version_release) struct version va = parse_valid(str_from(a));
	CLEANUP(version_release) struct version vb = parse_valid(str_from(b));
	if (sign(version_cmp(&va, &vb)) != (rank_a > rank_b) - (rank_a < rank_b))
		fail_msg("%s against %s", a, b);
}

static void test_order(void **state UNUSED)
{
	for (size_t i = 0; i < ARRAY_SIZE(ladder); i++)
		for (size_t k = 0; k < 3 && ladder[i][k]; k++)
			for (size_t j = 0; j < ARRAY_SIZE(ladder); j++)
				check_order(ladder[i][k], i, ladder[j][0], j);
}

// Numbers whose digit count takes one byte in the key, and longer ones.
static void test_numbers_of_any_size(void **state UNUSED)
{
	static const size_t digits[] = {1, 252, 253, 254, 255, 256, 257, 5000, 70000};
	struct version before = {0};
	for (size_t i = 0; i < ARRAY_SIZE(digits); i++) {
		CLEANUP(mem_free) char *text = xmalloc(digits[i]);
		memset(text, '9', digits[i]);
		struct version v = parse_valid((struct str){text, digits[i]});
		assert_int_equal(strlen(v.text), digits[i]);
		if (before.text)
			assert_true(version_cmp(&before, &v) < 0);
		version_release(&before);
		before = v;
	}
	version_release(&before);
}

enum { ROW_INPUT, ROW_VALID, ROW_NORMAL, ROW_CANONICAL, ROW_RANK, ROW_PRERELEASE, ROW_LOCAL };

struct ranked {
	struct version version;
	long rank;
};

struct ranking {
	struct ranked *items;
	size_t count, room;
};

static void check_row(void *ctx, const struct vector *row)
{
	struct ranking *all = ctx;
	CLEANUP(buf_release) struct buf text;
	buf_init(&text, 4096);
	vectors_unquote(row->column[ROW_INPUT], &text);
	if (!str_eq(row->column[ROW_VALID], STR("1"))) {
		if (version_is_valid(buf_view(&text)))
			fail_msg("line %zu should be invalid", row->line);
		return;
	}
	struct ranked r = {parse_valid(buf_view(&text)), strtol(row->column[ROW_RANK].ptr, NULL, 10)};
	if (!str_eq(str_from(r.version.text), row->column[ROW_NORMAL]))
		fail_msg("line %zu became %s", row->line, r.version.text);
	assert_int_equal(r.version.is_prerelease, str_eq(row->column[ROW_PRERELEASE], STR("1")));
	assert_int_equal(r.version.is_local, row->column[ROW_LOCAL].len > 0);
	GROW(all->items, all->count, all->room);
	all->items[all->count++] = r;
}

static int by_key(const void *a, const void *b)
{
	return version_cmp(&((const struct ranked *)a)->version, &((const struct ranked *)b)->version);
}

// Sorted by keys, the ranks rise exactly where the keys do. So each pair is in the right order.
static void check_ranking(struct ranking *all)
{
	assert_true(all->count > 0);
	qsort(all->items, all->count, sizeof(*all->items), by_key);
	for (size_t i = 1; i < all->count; i++) {
		const struct ranked *a = &all->items[i - 1], *b = &all->items[i];
		if ((by_key(a, b) < 0) != (a->rank < b->rank) || a->rank > b->rank)
			fail_msg("%s against %s", a->version.text, b->version.text);
	}
}

static void test_vectors(void **state UNUSED)
{
	struct ranking all = {0};
	vectors_foreach("versions.tsv", check_row, &all);
	check_ranking(&all);
	for (size_t i = 0; i < all.count; i++)
		version_release(&all.items[i].version);
	free(all.items);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_normal_form),
		cmocka_unit_test(test_invalid),
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_numbers_of_any_size),
		cmocka_unit_test(test_vectors),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
