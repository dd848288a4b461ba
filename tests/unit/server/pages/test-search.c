// SPDX-License-Identifier: Apache-2.0
#include "server/pages/search.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "lib/base/buf.h"

static struct platform platforms[] = {
	{.name = (char[]){"debian"}, .id = 3},
	{.name = (char[]){"secret"}, .id = 9, .is_private = true},
	{.name = (char[]){"ubuntu"}, .id = 1},
};
static const struct site site = {.store = {.platform = platforms, .platform_count = ARRAY_SIZE(platforms)}};

static void put(struct project_directory *d, const char *name, int64_t platform, uint64_t files, int64_t newest)
{
	project_directory_put(d, name, &(struct project_place){platform, newest, files});
}

static struct project_directory *make_directory(void)
{
	static const char *const names[] = {"numpy", "numba", "scikit-learn", "pynum", "num", "enum-tools", "xnumy"};
	struct project_directory *d = project_directory_new();
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		put(d, names[i], 1, i + 1, 100);
	put(d, "numpy", 3, 10, 200);
	put(d, "numpy", 9, 1000, 9000); // private
	put(d, "numsecret", 9, 5, 300);
	put(d, "numgone", 1, 0, 300);
	put(d, "numother", 77, 1, 300); // a platform that the configuration no longer has
	return d;
}

// "name match files newest platforms;…"
static void assert_finds(struct project_directory *d, const char *typed, size_t limit, uint64_t total, const char *want)
{
	struct name_query query;
	CLEANUP(search_data_release) struct search_data data;
	CLEANUP(readable_release) struct readable readable;
	CLEANUP(buf_release) struct buf out;
	buf_init(&out, 1 << 20);
	buf_puts(&out, "");
	assert_true(name_query_read(str_from(typed), &query));
	readable_init_public(&readable, &site);
	const struct search_places in = {.directory = d};
	struct err e = ERR_INIT;
	assert_int_equal(search_data_find(&in, &readable, &query, limit, &data, &e), 0);
	for (size_t i = 0; i < data.count; i++) {
		const struct search_found *f = &data.found[i];
		buf_printf(&out, "%s %s %d %d", f->name, name_match_name[f->match], (int)f->files, (int)f->newest);
		for (size_t k = 0; k < f->platforms; k++)
			buf_printf(&out, " %s", f->platform[k]->name);
		buf_puts(&out, ";");
	}
	assert_string_equal(out.len ? out.data : "", want);
	assert_int_equal(data.total, total);
}

static void test_best_is_first(void **state UNUSED)
{
	CLEANUP(project_directory_cleanup) struct project_directory *d = make_directory();
	assert_finds(d, "num", 10, 6,
		"num exact 5 100 ubuntu;numba prefix 2 100 ubuntu;numpy prefix 11 200 debian ubuntu;"
		"pynum part 4 100 ubuntu;xnumy part 7 100 ubuntu;enum-tools part 6 100 ubuntu;");
	assert_finds(d, "learn", 10, 1, "scikit-learn word 3 100 ubuntu;");
	assert_finds(d, "scikitlearn", 10, 1, "scikit-learn joined 3 100 ubuntu;");
}

static void test_results_are_limited(void **state UNUSED)
{
	CLEANUP(project_directory_cleanup) struct project_directory *d = make_directory();
	assert_finds(d, "num", 2, 6, "num exact 5 100 ubuntu;numba prefix 2 100 ubuntu;");
}

// Similar names only where there is no other.
static void test_near_misses(void **state UNUSED)
{
	CLEANUP(project_directory_cleanup) struct project_directory *d = make_directory();
	assert_finds(d, "nunpy", 10, 1, "numpy near 11 200 debian ubuntu;");
	assert_finds(d, "zzzzzz", 10, 0, "");
}

static void test_what_may_not_be_read_is_not_found(void **state UNUSED)
{
	CLEANUP(project_directory_cleanup) struct project_directory *d = make_directory();
	assert_finds(d, "numsecret", 10, 0, "");
	assert_finds(d, "numsecrte", 10, 0, "");
	assert_finds(d, "numgone", 10, 0, "");
	assert_finds(d, "numother", 10, 0, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_best_is_first),
		cmocka_unit_test(test_results_are_limited),
		cmocka_unit_test(test_near_misses),
		cmocka_unit_test(test_what_may_not_be_read_is_not_found),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
