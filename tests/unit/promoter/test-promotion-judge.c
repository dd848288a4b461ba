// SPDX-License-Identifier: Apache-2.0
#include "promoter/promotion-judge.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "lib/base/limits.h"

enum { NOW = 1800000000 };
#define LINUX "manylinux_2_17_x86_64.whl"
#define ALL_KINDS "integration unit"

// Two platforms with a profile, and one without.
struct judge_platforms {
	struct platform platform[3];
	const struct platform *list[3];
};

static int set_up(void **state)
{
	static struct judge_platforms p;
	static char x86[] = "ubuntu-22.04-x86_64", arm[] = "debian-12-aarch64", unknown[] = "wheels";
	struct err e = ERR_INIT;
	p.platform[0].name = x86;
	p.platform[1].name = arm;
	p.platform[2].name = unknown;
	const struct profile_keys keys[] = {{.pythons = "3.10"}, {.pythons = "3.11"}, {0}};
	for (size_t i = 0; i < ARRAY_SIZE(p.list); i++) {
		if (profile_init(&p.platform[i].profile, p.platform[i].name, &keys[i], &e) < 0)
			return -1;
		p.list[i] = &p.platform[i];
	}
	*state = &p;
	return 0;
}

static int tear_down(void **state)
{
	struct judge_platforms *p = *state;
	for (size_t i = 0; i < ARRAY_SIZE(p->platform); i++)
		profile_release(&p->platform[i].profile);
	return 0;
}

// The cells that are green: "a/3.12 b/3.11", for every kind.
static bool find_green(void *ctx, const struct catalog_tested *wheel UNUSED, const struct promotion_rule *rule,
	const struct promotion_cell *cell, struct promotion_record *out)
{
	char name[128];
	snprintf(name, sizeof(name), "%s/%s", cell->platform, cell->python);
	*out = (struct promotion_record){.kind = rule->kind, .made = NOW, .received = NOW, .passed = 1};
	return strstr(ctx, name) != NULL;
}

static void wheels_need_their_cells(void **state)
{
	struct judge_platforms *p = *state;
	static struct {
		const char *requires, *cells, *platform, *filename, *requires_python;
		char green[100];
		const char *why; // "": it is allowed
	} cases[] = {
		{NULL, NULL, "wheels", "a-1.tar.gz", NULL, "", ""},
		{"unit", NULL, "ubuntu-22.04-x86_64", "a-1.tar.gz", NULL, "", "it is no wheel"},
		{"unit", NULL, "ubuntu-22.04-x86_64", "a-1-" LINUX, NULL, "", "5 or 6 parts"},
		// A wheel for one platform needs the cells of its own.
		{"unit", NULL, "ubuntu-22.04-x86_64", "a-1-cp310-cp310-" LINUX, NULL, "ubuntu-22.04-x86_64/3.10", ""},
		{"unit", NULL, "ubuntu-22.04-x86_64", "a-1-cp310-cp310-" LINUX, NULL, "debian-12-aarch64/3.11",
			"ubuntu-22.04-x86_64/3.10: no evidence of kind unit"},
		{"unit", NULL, "ubuntu-22.04-x86_64", "a-1-cp311-cp311-" LINUX, NULL, "ubuntu-22.04-x86_64/3.10",
			"installs in none"},
		{"unit", NULL, "debian-12-aarch64", "a-1-cp311-cp311-" LINUX, NULL, "debian-12-aarch64/3.11",
			"installs in none"},
		{"unit", "ubuntu-22.04-x86_64/3.10 ubuntu-22.04-x86_64/3.12", "ubuntu-22.04-x86_64",
			"a-1-cp310-abi3-" LINUX, NULL, "ubuntu-22.04-x86_64/3.10",
			"ubuntu-22.04-x86_64/3.12: no evidence"},
		{"unit", "ubuntu-22.04-x86_64/3.10 ubuntu-22.04-x86_64/3.12", "ubuntu-22.04-x86_64",
			"a-1-cp312-abi3-" LINUX, NULL, "ubuntu-22.04-x86_64/3.12", ""},
		// A wheel for any platform needs all where its Python fits.
		{"unit", NULL, "ubuntu-22.04-x86_64", "a-1-py3-none-any.whl", NULL,
			"ubuntu-22.04-x86_64/3.10 debian-12-aarch64/3.11", ""},
		{"unit", NULL, "ubuntu-22.04-x86_64", "a-1-py3-none-any.whl", NULL, "ubuntu-22.04-x86_64/3.10",
			"debian-12-aarch64/3.11: no evidence"},
		{"unit", NULL, "ubuntu-22.04-x86_64", "a-1-py3-none-any.whl", "<3.11", "ubuntu-22.04-x86_64/3.10", ""},
		{"unit", NULL, "ubuntu-22.04-x86_64", "a-1-py311-none-any.whl", NULL, "debian-12-aarch64/3.11", ""},
		{"unit", NULL, "ubuntu-22.04-x86_64", "a-1-py2-none-any.whl", NULL, "", "installs in none"},
		{"unit", NULL, "ubuntu-22.04-x86_64", "a-1-py3-none-any.whl", ">=3.14", "", "installs in none"},
		// Each micro version counts.
		{"unit", NULL, "ubuntu-22.04-x86_64", "a-1-py3-none-any.whl", ">=3.10.4,<3.11",
			"ubuntu-22.04-x86_64/3.10", ""},
		// A platform without a profile: its wheels' platform tags are not looked at.
		{"unit", "wheels/3.12", "wheels", "a-1-cp312-cp312-macosx_11_0_arm64.whl", NULL, "wheels/3.12", ""},
		{"unit", "wheels/3.12", "wheels", "a-1-cp311-cp311-macosx_11_0_arm64.whl", NULL, "wheels/3.12",
			"installs in none"},
		{"unit", "wheels/3.12", "wheels", "a-1-py3-none-any.whl", NULL, "wheels/3.12", ""},
		{"unit", NULL, "wheels", "a-1-cp312-cp312-" LINUX, NULL, "", "installs in none"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct err e = ERR_INIT;
		CLEANUP(promotion_judge_release) struct promotion_judge j = {0};
		CLEANUP(buf_release) struct buf why;
		const uint8_t sha256[SHA256_SIZE] = {0};
		const struct promotion_file file = {.platform = cases[i].platform,
			.filename = cases[i].filename,
			.requires_python = cases[i].requires_python,
			.sha256 = sha256};
		buf_init(&why, LIMIT_REASON);
		if (promotion_judge_init(&j, cases[i].requires, cases[i].cells, p->list, ARRAY_SIZE(p->list), NOW,
			    find_green, cases[i].green, &e) < 0)
			fail_msg("case %zu: %s", i, e.msg);
		bool is_allowed = promotion_judge_allows(&j, &file, &why);
		if (is_allowed != !*cases[i].why || !strstr(why.data, cases[i].why))
			fail_msg("case %zu: %d %s", i, is_allowed, why.data);
	}
}

static char nothing[] = "";

static void platforms_without_pythons_are_named(void **state)
{
	struct judge_platforms *p = *state;
	struct err e = ERR_INIT;
	CLEANUP(promotion_judge_release) struct promotion_judge j = {0};
	CLEANUP(buf_release) struct buf why;
	const uint8_t sha256[SHA256_SIZE] = {0};
	buf_init(&why, LIMIT_REASON);
	assert_int_equal(promotion_judge_init(&j, "unit", NULL, &p->list[2], 1, NOW, find_green, nothing, &e), 0);
	assert_false(promotion_judge_allows(&j,
		&(struct promotion_file){.platform = "wheels", .filename = "a-1-py3-none-any.whl", .sha256 = sha256},
		&why));
	assert_non_null(strstr(why.data, "the Pythons of its platforms are unknown"));
}

static void wrong_cells_are_named(void **state)
{
	struct judge_platforms *p = *state;
	struct err e = ERR_INIT;
	struct promotion_judge j;
	assert_int_equal(promotion_judge_init(&j, "unit", "other/3.12", p->list, 3, NOW, find_green, nothing, &e), -1);
	assert_int_equal(e.kind, ERR_USAGE);
	assert_non_null(strstr(e.msg, "no platform other"));
	assert_int_equal(promotion_judge_init(&j, "unit", "wheels/4x", p->list, 3, NOW, find_green, nothing, &e), -1);
	assert_int_equal(e.kind, ERR_USAGE);
	assert_non_null(strstr(e.msg, "4x"));
}

static void add_lack(void *ctx, const struct promotion_rule *rule, const struct promotion_cell *cell)
{
	buf_printf(ctx, "%s %s/%s;", rule->kind, cell->platform, cell->python);
}

static void all_that_is_lacking_is_listed(void **state)
{
	struct judge_platforms *p = *state;
	struct err e = ERR_INIT;
	CLEANUP(promotion_judge_release) struct promotion_judge j = {0};
	CLEANUP(buf_release) struct buf lacks;
	char green[] = "aarch64/3.11";
	const uint8_t sha256[SHA256_SIZE] = {0};
	struct promotion_file file = {
		.platform = "ubuntu-22.04-x86_64", .filename = "a-1-py3-none-any.whl", .sha256 = sha256};
	buf_init(&lacks, LIMIT_REASON);
	assert_int_equal(promotion_judge_init(&j, ALL_KINDS, NULL, p->list, 2, NOW, find_green, green, &e), 0);
	assert_true(promotion_judge_lacks(&j, &file, add_lack, &lacks));
	assert_string_equal(lacks.data, "integration ubuntu-22.04-x86_64/3.10;unit ubuntu-22.04-x86_64/3.10;"
					"integration debian-12-aarch64/3.11;unit debian-12-aarch64/3.11;");
	file.filename = "a-1.tar.gz";
	buf_clear(&lacks);
	assert_false(promotion_judge_lacks(&j, &file, add_lack, &lacks));
	assert_int_equal(lacks.len, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(wheels_need_their_cells),
		cmocka_unit_test(platforms_without_pythons_are_named),
		cmocka_unit_test(wrong_cells_are_named),
		cmocka_unit_test(all_that_is_lacking_is_listed),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
