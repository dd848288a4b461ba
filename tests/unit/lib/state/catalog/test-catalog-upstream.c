// SPDX-License-Identifier: Apache-2.0
// The catalog's rows of names that no index has are bounded, because a client can ask for any name.
#include "lib/state/catalog/catalog-upstream.h"
#include "tests/unit/support/two-catalogs.h"

static void put_page(const char *project, const char *last_definitive, int64_t asked, int64_t fetched, struct str page)
{
	struct err e = ERR_INIT;
	int64_t changed = 0;
	const struct catalog_upstream row = {.project = project,
		.source = "http://127.0.0.1/simple/",
		.result = "404",
		.why = "",
		.last_definitive = last_definitive,
		.asked = asked,
		.fetched = fetched,
		.max_age = -1,
		.page = page};
	CLEANUP(catalog_rollback) struct catalog_transaction t = {0};
	two_ok(catalog_begin(two_other, &t, &e), &e);
	two_ok(catalog_upstream_put(two_other, &row, page.len > 0, true, &changed, &e), &e);
	two_ok(catalog_commit(&t, &e), &e);
	assert_true(changed > 0);
}

static void put(const char *project, const char *last_definitive, int64_t asked, int64_t fetched)
{
	put_page(project, last_definitive, asked, fetched, (struct str){0});
}

static void forget_pages(int64_t bytes)
{
	struct err e = ERR_INIT;
	CLEANUP(catalog_rollback) struct catalog_transaction t = {0};
	two_ok(catalog_begin(two_other, &t, &e), &e);
	two_ok(catalog_upstream_forget_pages(two_other, bytes, "[\"pinned\"]", &e), &e);
	two_ok(catalog_commit(&t, &e), &e);
}

static void forget(int64_t most)
{
	struct err e = ERR_INIT;
	CLEANUP(catalog_rollback) struct catalog_transaction t = {0};
	two_ok(catalog_begin(two_other, &t, &e), &e);
	two_ok(catalog_upstream_forget(two_other, most, &e), &e);
	two_ok(catalog_commit(&t, &e), &e);
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

static void only_the_newest_unknown_names_stay(void **state UNUSED)
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

// A page of a thousand bytes, that many times asked for.
static void put_thousand(const char *project, int64_t asked, int times)
{
	static const char page[1000];
	for (int i = 0; i < times; i++)
		put_page(project, "known", asked + i, asked + i, (struct str){page, sizeof(page)});
}

// Pages that were asked for only once have a quarter of the room, so a client that requests everything displaces no
// other pages.
// Exceeds LIMIT_PAGES_KEPT.
static void pages_are_bounded_by_bytes(void **state UNUSED)
{
	char name[24];
	two_put_new(two_other, two_root, two_ones);
	put_thousand("six", 1, 1); // ours
	put_thousand("pinned", 2, 1); // by a mirror
	for (int i = 0; i < 5; i++) {
		snprintf(name, sizeof(name), "wanted-%d", i);
		put_thousand(name, 10 * i, 2);
	}
	for (int i = 0; i < 50; i++) {
		snprintf(name, sizeof(name), "stranger-%d", i);
		put_thousand(name, 100 + i, 1);
	}
	forget_pages(1 << 20);
	assert_true(has("wanted-0") && has("stranger-0"));
	forget_pages(8 * 2000); // with what a row takes beside its page
	assert_true(has("wanted-0") && has("wanted-4") && has("six"));
	assert_true(has("stranger-49") && has("stranger-48") && !has("stranger-44") && !has("stranger-0"));
	forget_pages(4 * 1300);
	assert_true(has("wanted-4") && has("wanted-3") && !has("wanted-0") && has("six"));
	forget_pages(0);
	assert_true(!has("wanted-4") && !has("stranger-49") && has("six") && has("pinned"));
}

#define WITH_BOTH(test) cmocka_unit_test_setup_teardown(test, two_open, two_close)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_BOTH(only_the_newest_unknown_names_stay),
		WITH_BOTH(what_somebody_has_stays),
		WITH_BOTH(pages_are_bounded_by_bytes),
	};
	return cmocka_run_group_tests(tests, two_make_folder, two_remove_folder);
}
