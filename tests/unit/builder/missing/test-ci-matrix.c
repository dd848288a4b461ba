// SPDX-License-Identifier: Apache-2.0
// Small cases; tests/e2e/test_missing.py reads each form with a parser that is not ours.
#include "builder/missing/ci-matrix.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct missing_row row_of(const char *platform, const char *python, const char *project, const char *version)
{
	return (struct missing_row){.platform = platform,
		.python = python,
		.project = project,
		.version = version,
		.status = WHEEL_MISSING,
		.why = "no wheel"};
}

typedef int form_fn(const struct missing *m, const struct missing_shard *shard, struct buf *out, struct err *e);

static void check_form(form_fn *form, const struct missing *m, const struct missing_shard *shard, const char *expected)
{
	struct err e = ERR_INIT;
	CLEANUP(buf_release) struct buf out;
	buf_init(&out, 1 << 20);
	assert_int_equal(form(m, shard, &out, &e), 0);
	assert_string_equal(out.data, expected);
}

static void test_the_forms(void **state UNUSED)
{
	struct missing_row rows[] = {
		row_of("ubuntu-22.04-x86_64", "3.10", "a", "1.0"),
		row_of("ubuntu-22.04-x86_64", "3.10", "a-b", "2+cu128"),
		row_of("ubuntu-22.04-x86_64", "3.10", "c", "1"),
		row_of("ubuntu-22.04-x86_64", "3.12", "a", "1.0"),
		row_of("wheels", "3.13t", "a", "1.0"),
		row_of("zulu", "3.12", "a", "1.0"),
	};
	rows[2].status = rows[5].status = WHEEL_FAILED;
	struct missing m = {.row = rows, .rows = ARRAY_SIZE(rows)};
	struct missing_shard all = {0};
	check_form(ci_matrix_github, &m, &all,
		"matrix={\"include\":[{\"platform\":\"ubuntu-22.04-x86_64\",\"python\":\"3.10\",\"arch\":\"x86_64\","
		"\"wheels\":\"2\",\"requirements\":\"a==1.0 a-b==2+cu128\"},{\"platform\":\"ubuntu-22.04-x86_64\","
		"\"python\":\"3.12\",\"arch\":\"x86_64\",\"wheels\":\"1\",\"requirements\":\"a==1.0\"},"
		"{\"platform\":\"wheels\",\"python\":\"3.13t\",\"arch\":\"\",\"wheels\":\"1\","
		"\"requirements\":\"a==1.0\"}]}\ncount=3\n");
	check_form(ci_matrix_requirements, &m, &all, "a==1.0\na-b==2+cu128\n");
	check_form(ci_matrix_zuul, &m, &all,
		"---\njobs:\n"
		"  - job:\n      name: \"wheelcache-build-ubuntu-22.04-x86_64\"\n      parent: \"wheelcache-build\"\n"
		"      vars:\n        wheelcache_platform: \"ubuntu-22.04-x86_64\"\n        wheelcache_missing:\n"
		"          - python: \"3.10\"\n            requirements:\n              - \"a==1.0\"\n"
		"              - \"a-b==2+cu128\"\n          - python: \"3.12\"\n            requirements:\n"
		"              - \"a==1.0\"\n"
		"  - job:\n      name: \"wheelcache-build-wheels\"\n      parent: \"wheelcache-build\"\n"
		"      vars:\n        wheelcache_platform: \"wheels\"\n        wheelcache_missing:\n"
		"          - python: \"3.13t\"\n            requirements:\n              - \"a==1.0\"\n"
		"child_jobs:\n  - \"wheelcache-build-ubuntu-22.04-x86_64\"\n  - \"wheelcache-build-wheels\"\n");
	rows[1].status = rows[3].status = WHEEL_HERE;
	check_form(ci_matrix_jenkins, &m, &(struct missing_shard){1, 1},
		"---\njob: \"wheelcache-missing\"\ntimeout_minutes: 240\nfailFast: false\n"
		"taskName: \"${platform}/python_${python}\"\nmatrix:\n  axes:\n"
		"    platform:\n      - \"ubuntu-22.04-x86_64\"\n      - \"wheels\"\n"
		"    python:\n      - \"3.10\"\n      - \"3.13t\"\n"
		"    requirements:\n      - \"a==1.0\"\n"
		"  include:\n"
		"    - platform: \"ubuntu-22\\\\.04-x86_64\"\n      python: \"3\\\\.10\"\n      requirements: \"a==1\\\\.0\"\n"
		"    - platform: \"wheels\"\n      python: \"3\\\\.13t\"\n      requirements: \"a==1\\\\.0\"\n"
		"steps:\n  - name: \"build\"\n"
		"    run: \"wheelcache build --platform $platform --python $python --shard 1/1\"\n");
}

static void test_nothing_is_missing(void **state UNUSED)
{
	struct missing m = {0};
	struct missing_shard all = {0};
	check_form(ci_matrix_github, &m, &all, "matrix={\"include\":[]}\ncount=0\n");
	check_form(ci_matrix_requirements, &m, &all, "");
	check_form(ci_matrix_zuul, &m, &all, "---\njobs: []\nchild_jobs: []\n");
	check_form(ci_matrix_jenkins, &m, &all,
		"---\njob: \"wheelcache-missing\"\ntimeout_minutes: 240\nfailFast: false\n"
		"taskName: \"${platform}/python_${python}\"\nmatrix:\n  axes:\n    platform: []\n    python: []\n"
		"    requirements: []\n  include: []\nsteps:\n  - name: \"build\"\n"
		"    run: \"wheelcache build --platform $platform --python $python\"\n");
}

static void test_a_shard_is_parsed(void **state UNUSED)
{
	static const char *const bad[] = {"", "1", "/", "0/1", "2/1", "1/0", "1/2/3", "a/b", "-1/2", "1/10001", " 1/2"};
	struct err e = ERR_INIT;
	struct missing_shard s;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		e = (struct err)ERR_INIT;
		assert_int_equal(missing_shard_parse(bad[i], &s, &e), -1);
		assert_int_equal(e.kind, ERR_USAGE);
	}
	assert_int_equal(missing_shard_parse("3/10000", &s, &e), 0);
	assert_int_equal(s.index, 3);
	assert_int_equal(s.count, 10000);
}

// The cut is part of the interface: machines with different versions of wheelcache must agree.
static void test_a_project_is_in_the_same_shard_everywhere(void **state UNUSED)
{
	static const struct {
		const char *project;
		unsigned index[3]; // of 2, of 3, of 7
	} places[] = {{"numpy", {1, 1, 5}}, {"lxml", {2, 3, 1}}, {"python-ldap", {2, 1, 2}}, {"a", {1, 2, 2}},
		{"pyyaml", {1, 1, 2}}, {"zope-interface", {1, 1, 1}}};
	static const unsigned counts[] = {2, 3, 7};
	for (size_t i = 0; i < ARRAY_SIZE(places); i++)
		for (size_t c = 0; c < ARRAY_SIZE(counts); c++)
			for (unsigned k = 1; k <= counts[c]; k++)
				assert_int_equal(missing_shard_has(&(struct missing_shard){k, counts[c]},
							 places[i].project),
					k == places[i].index[c]);
	assert_true(missing_shard_has(&(struct missing_shard){0}, "numpy"));
	assert_true(missing_shard_has(&(struct missing_shard){1, 1}, "numpy"));
}

// Rows of many projects in some environments.
static struct missing many(size_t environments, size_t projects, size_t version)
{
	struct missing m = {.rows = environments * projects, .row = xcalloc(environments * projects, sizeof(*m.row))};
	CLEANUP(mem_free) char *digits = xcalloc(version + 1, 1);
	memset(digits, '7', version);
	const char *number = arena_copy(&m.text, str_from(digits));
	for (size_t i = 0; i < m.rows; i++) {
		CLEANUP(mem_free) char *platform = xasprintf("p%zu", i / projects);
		CLEANUP(mem_free) char *project = xasprintf("project-%zu", i % projects);
		m.row[i] = row_of(arena_copy(&m.text, str_from(platform)), "3.12",
			arena_copy(&m.text, str_from(project)), number);
	}
	return m;
}

static void test_what_is_too_much_for_github_says_which_shard_fits(void **state UNUSED)
{
	struct err e = ERR_INIT;
	CLEANUP(missing_release) struct missing m = many(10, 1000, 60);
	CLEANUP(buf_release) struct buf out;
	buf_init(&out, 1 << 22);
	assert_int_equal(ci_matrix_github(&m, &(struct missing_shard){0}, &out, &e), -1);
	assert_int_equal(e.kind, ERR_LIMIT);
	assert_int_equal(out.len, 0);
	const char *says = strstr(e.msg, "--shard K/");
	assert_non_null(says);
	unsigned fit = (unsigned)strtoul(says + strlen("--shard K/"), NULL, 10);
	assert_in_range(fit, 2, 4);
	for (unsigned k = 1; k <= fit; k++) {
		buf_clear(&out);
		assert_int_equal(ci_matrix_github(&m, &(struct missing_shard){k, fit}, &out, &e), 0);
		assert_in_range(out.len, 1, CI_MATRIX_CHARACTERS + 30);
	}
	unsigned fail = 0;
	for (unsigned k = 1; k < fit; k++)
		fail += ci_matrix_github(&m, &(struct missing_shard){k, fit - 1}, &out, &e) < 0;
	assert_int_not_equal(fail, 0);
}

static void test_github_takes_256_entries(void **state UNUSED)
{
	struct err e = ERR_INIT;
	CLEANUP(missing_release) struct missing m = many(CI_MATRIX_ENTRIES, 1, 1);
	CLEANUP(missing_release) struct missing more = many(CI_MATRIX_ENTRIES + 1, 1, 1);
	CLEANUP(buf_release) struct buf out;
	buf_init(&out, 1 << 20);
	assert_int_equal(ci_matrix_github(&m, &(struct missing_shard){0}, &out, &e), 0);
	assert_non_null(strstr(out.data, "\ncount=256\n"));
	assert_int_equal(ci_matrix_github(&more, &(struct missing_shard){0}, &out, &e), -1);
	assert_non_null(strstr(e.msg, "no --shard fits"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_forms),
		cmocka_unit_test(test_nothing_is_missing),
		cmocka_unit_test(test_a_shard_is_parsed),
		cmocka_unit_test(test_a_project_is_in_the_same_shard_everywhere),
		cmocka_unit_test(test_what_is_too_much_for_github_says_which_shard_fits),
		cmocka_unit_test(test_github_takes_256_entries),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
