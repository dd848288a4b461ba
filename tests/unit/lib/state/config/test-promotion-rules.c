// SPDX-License-Identifier: Apache-2.0
#include "lib/state/config/promotion-rules.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "lib/base/limits.h"

enum { NOW = 1800000000, DAY = 86400 };

static void rules_are_read(void **state UNUSED)
{
	struct err e = ERR_INIT;
	CLEANUP(promotion_rules_release) struct promotion_rules r = {0};
	if (promotion_rules_read("integration  unit:min-tests=100:max-skipped=5:max-age=7d ",
		    "ubuntu-24.04-x86_64/3.12 a/3.13t", &r, &e) < 0)
		fail_msg("%s", e.msg);
	assert_int_equal(r.rules, 2);
	assert_string_equal(r.rule[0].kind, "integration");
	assert_int_equal(r.rule[0].min_tests, 1);
	assert_true(r.rule[0].max_skipped == UINT64_MAX && r.rule[0].max_age == INT64_MAX);
	assert_string_equal(r.rule[1].kind, "unit");
	assert_int_equal(r.rule[1].min_tests, 100);
	assert_int_equal(r.rule[1].max_skipped, 5);
	assert_int_equal(r.rule[1].max_age, 7 * DAY);
	assert_int_equal(r.cells, 2);
	assert_string_equal(r.cell[0].platform, "ubuntu-24.04-x86_64");
	assert_string_equal(r.cell[1].python, "3.13t");
}

static void wrong_rules_are_named(void **state UNUSED)
{
	static const struct {
		const char *requires, *cells, *reason;
	} cases[] = {
		{"", "a/3.12", "no kind of evidence is required"},
		{NULL, "a/3.12", "no kind of evidence is required"},
		{"   ", "a/3.12", "no kind of evidence"},
		{"Unit", NULL, "\"Unit\" is no kind"},
		{"a-", NULL, "\"a-\" is no kind"},
		{"a--b", NULL, "\"a--b\" is no kind"},
		{":min-tests=1", NULL, "\"\" is no kind"},
		{"unit unit", NULL, "unit stands there twice"},
		{"unit:min-tests=0", NULL, "min-tests of unit"},
		{"unit:min-tests", NULL, "min-tests of unit"},
		{"unit:min-tests=-1", NULL, "min-tests of unit"},
		{"unit:min-tests=99999999999999999999", NULL, "min-tests of unit"},
		{"unit:max-skipped=x", NULL, "max-skipped of unit"},
		{"unit:max-age=", NULL, "max-age of unit"},
		{"unit:max-age=0d", NULL, "max-age of unit"},
		{"unit:max-age=7y", NULL, "max-age of unit"},
		{"unit:by=name", NULL, "by of unit is not version: \"name\""},
		{"unit:by", NULL, "by of unit is not version"},
		{"unit:", NULL, "unit has an unknown setting \"\""},
		{"unit:tests=1", NULL, "unit has an unknown setting \"tests=1\""},
		{"unit", "a", "\"a\" is not PLATFORM/PYTHON"},
		{"unit", "a/", "\"a/\" is not PLATFORM/PYTHON"},
		{"unit", "a/pypy3.10", "\"a/pypy3.10\" is not PLATFORM/PYTHON"},
		{"unit", "/3.12", "\"/3.12\" is not PLATFORM/PYTHON"},
		{"unit", "a/b/3.12", "\"a/b/3.12\" is not PLATFORM/PYTHON"},
		{"unit", "a/3.12 a/3.12", "a/3.12 stands there twice"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct err e = ERR_INIT;
		struct promotion_rules r;
		if (promotion_rules_read(cases[i].requires, cases[i].cells, &r, &e) != -1)
			fail_msg("%s, %s: read", cases[i].requires, cases[i].cells);
		if (e.kind != ERR_USAGE || !strstr(e.msg, cases[i].reason))
			fail_msg("%s, %s: %s", cases[i].requires, cases[i].cells, e.msg);
	}
}

// Exceeds LIMIT_PROMOTION_RULES, LIMIT_PROMOTION_CELLS.
static void numbers_of_rules_and_cells_are_limited(void **state UNUSED)
{
	struct err e = ERR_INIT;
	struct promotion_rules r;
	CLEANUP(buf_release) struct buf text = {0};
	buf_init(&text, 1 << 20);
	for (int i = 0; i <= LIMIT_PROMOTION_RULES; i++)
		buf_printf(&text, "k%d ", i);
	assert_int_equal(promotion_rules_read(text.data, NULL, &r, &e), -1);
	assert_non_null(strstr(e.msg, "requires: more than"));
	buf_clear(&text);
	for (int i = 0; i <= LIMIT_PROMOTION_CELLS; i++)
		buf_printf(&text, "p%d/3.12 ", i);
	assert_int_equal(promotion_rules_read("unit", text.data, &r, &e), -1);
	assert_non_null(strstr(e.msg, "cells: more than"));
}

// --- the decision ---

static const struct promotion_cell two_cells[] = {{"a", "3.12"}, {"b", "3.13"}};

static bool find_record(void *ctx, const struct promotion_rule *rule, const struct promotion_cell *cell, struct promotion_record *out)
{
	for (const struct promotion_record *r = ctx; r->kind; r++)
		if (strcmp(r->kind, rule->kind) == 0 && strcmp(r->platform, cell->platform) == 0 &&
			strcmp(r->python, cell->python) == 0) {
			*out = *r;
			return true;
		}
	return false;
}

#define AT_A "unit", "a", "3.12"
#define AT_B "unit", "b", "3.13"
#define AS_BYTES PROMOTION_SAME_BYTES, {0}, NULL
static void wheels_need_each_kind_in_each_cell(void **state UNUSED)
{
	static struct {
		const char *requires;
		size_t cells;
		struct promotion_record records[4];
		const char *why; // "": it is allowed
	} cases[] = {
		{"unit", 1, {{AT_A, NOW, NOW, 5, 0, 0, NULL, AS_BYTES}}, ""},
		{"unit", 0, {{AT_A, NOW, NOW, 5, 0, 0, NULL, AS_BYTES}}, "installs in none of the cells"},
		{"unit", 1, {{0}}, "a/3.12: no evidence of kind unit"},
		{"unit", 1, {{AT_B, NOW, NOW, 5, 0, 0, NULL, AS_BYTES}}, "a/3.12: no evidence of kind unit"},
		{"unit", 2, {{AT_A, NOW, NOW, 5, 0, 0, NULL, AS_BYTES}}, "b/3.13: no evidence of kind unit"},
		{"unit", 2, {{AT_A, NOW, NOW, 5, 0, 0, NULL, AS_BYTES}, {AT_B, NOW, NOW, 5, 0, 0, NULL, AS_BYTES}}, ""},
		{"unit other", 1, {{AT_A, NOW, NOW, 5, 0, 0, NULL, AS_BYTES}}, "a/3.12: no evidence of kind other"},
		{"unit", 1, {{AT_A, NOW, NOW, 5, 2, 0, NULL, AS_BYTES}}, "a/3.12: 2 of 7 tests failed (unit)"},
		{"unit", 1, {{AT_A, NOW, NOW, 0, 0, 9, NULL, AS_BYTES}}, "0 tests ran, 1 is required"},
		{"unit:min-tests=6", 1, {{AT_A, NOW, NOW, 5, 0, 9, NULL, AS_BYTES}}, "5 tests ran, 6 are required"},
		{"unit:min-tests=5:max-skipped=9", 1, {{AT_A, NOW, NOW, 5, 0, 9, NULL, AS_BYTES}}, ""},
		{"unit:max-skipped=8", 1, {{AT_A, NOW, NOW, 5, 0, 9, NULL, AS_BYTES}}, "9 tests were skipped, at most 8"},
		{"unit:max-age=2d", 1, {{AT_A, NOW - 2 * DAY, NOW, 5, 0, 0, NULL, AS_BYTES}}, ""},
		{"unit:max-age=2d", 1, {{AT_A, NOW - 2 * DAY - 1, NOW, 5, 0, 0, NULL, AS_BYTES}}, "48 hours old, at most 48"},
		{"unit:max-age=2d", 1, {{AT_A, NOW + DAY, NOW, 5, 0, 0, NULL, AS_BYTES}}, ""}, // a clock that is fast
		{"unit:max-age=2d", 1, {{AT_A, NOW + DAY, NOW - 3 * DAY, 5, 0, 0, NULL, AS_BYTES}}, "72 hours old, at most 48"},
		{"unit:by=version", 1, {{AT_A, NOW, NOW, 5, 2, 0, NULL, PROMOTION_SAME_COMMIT, {0}, NULL}},
			"a/3.12: 2 of 7 tests failed (unit of another build from the same commit)"},
		{"unit", 1, {{AT_A, NOW, NOW, 5, 2, 0, NULL, PROMOTION_EQUAL_CONTENTS, {0}, NULL}},
			"a/3.12: 2 of 7 tests failed (unit of equal contents)"},
		{"unit:min-tests=6", 1, {{AT_A, NOW, NOW, 0, 0, 0, "the lab burnt down", AS_BYTES}}, ""},
	};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct err e = ERR_INIT;
		CLEANUP(promotion_rules_release) struct promotion_rules r = {0};
		CLEANUP(buf_release) struct buf why = {0};
		buf_init(&why, 1024);
		assert_int_equal(promotion_rules_read(cases[i].requires, NULL, &r, &e), 0);
		bool is_allowed =
			promotion_is_allowed(&r, two_cells, cases[i].cells, NOW, find_record, cases[i].records, &why);
		if (is_allowed != !*cases[i].why || !strstr(why.data ? why.data : "", cases[i].why))
			fail_msg("case %zu: %d %s", i, is_allowed, why.data);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rules_are_read),
		cmocka_unit_test(wrong_rules_are_named),
		cmocka_unit_test(numbers_of_rules_and_cells_are_limited),
		cmocka_unit_test(wheels_need_each_kind_in_each_cell),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
