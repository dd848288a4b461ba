// SPDX-License-Identifier: Apache-2.0
// What the catalog has of names that nobody has: bounded, for anybody can ask for any.
#include "lib/state/catalog-upstream.h"
#include "tests/unit/two-catalogs.h"

static void put(const char *project, const char *standing, int64_t asked, int64_t fetched)
{
	struct err e = ERR_INIT;
	int64_t changed = 0;
	const struct catalog_upstream row = {.project = project, .source = "http://127.0.0.1/simple/", .result = "404",
		.why = "", .standing = standing, .asked = asked, .fetched = fetched, .max_age = -1};
	two_ok(catalog_begin(two_other, &e), &e);
	two_ok(catalog_upstream_put(two_other, &row, false, true, &changed, &e), &e);
	two_ok(catalog_commit(two_other, &e), &e);
	assert_true(changed > 0);
}

static void forget(int64_t most)
{
	struct err e = ERR_INIT;
	two_ok(catalog_begin(two_other, &e), &e);
	two_ok(catalog_upstream_forget(two_other, most, &e), &e);
	two_ok(catalog_commit(two_other, &e), &e);
}

static int see(void *ctx, const struct catalog_upstream *row UNUSED, struct err *e UNUSED)
{
	*(bool *)ctx = true;
	return 0;
}

static bool has(const char *project)
{
	struct err e = ERR_INIT;
	bool is_there = false;
	two_ok(catalog_upstream_rows(two_other, project, see, &is_there, &e), &e);
	return is_there;
}

static void only_the_newest_strangers_stay(void **state UNUSED)
{
	put("first", "404", 10, 0);
	put("second", NULL, 20, 0); // not even a 404
	put("third", "404", 30, 0);
	forget(3);
	assert_true(has("first") && has("second") && has("third"));
	forget(1);
	assert_false(has("first") || has("second"));
	assert_true(has("third"));
}

static void what_somebody_has_stays(void **state UNUSED)
{
	two_put_new(two_other, two_root, two_ones);
	put("six", "404", 10, 0);                 // ours
	put("had", "404", 10, 5);                 // upstream had it once
	put("quarantined", "quarantined", 10, 0); // and what it says of it counts
	forget(0);
	assert_true(has("six") && has("had") && has("quarantined"));
}

#define WITH_BOTH(test) cmocka_unit_test_setup_teardown(test, two_open, two_close)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_BOTH(only_the_newest_strangers_stay),
		WITH_BOTH(what_somebody_has_stays),
	};
	return cmocka_run_group_tests(tests, two_make_folder, two_remove_folder);
}
