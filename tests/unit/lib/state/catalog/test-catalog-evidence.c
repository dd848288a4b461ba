// SPDX-License-Identifier: Apache-2.0
// Evidence in the catalog: which record counts for bytes in a cell, and for which views.
#include "lib/state/catalog/catalog-evidence.h"

#include <string.h>

#include "lib/base/limits.h"
#include "lib/format/compress.h"
#include "tests/unit/support/two-catalogs.h"

enum { SECOND = 1000000000 };

struct given {
	uint8_t id;
	const char *kind, *python, *views;
	int64_t order;
	uint64_t failed;
	const uint8_t *wheel;
};

static int put_record(const struct given *given)
{
	struct err e = ERR_INIT;
	const struct catalog_tested wheel[] = {{.project = "foo", .sha256 = given->wheel, .version = STR("1"), .filename = "foo-1.whl"},
		{.project = "bar", .sha256 = (const uint8_t[SHA256_SIZE]){9}, .version = STR("1"), .filename = "bar-1.whl"}};
	struct catalog_evidence r = {.id = {given->id},
		.kind = given->kind,
		.platform = "debian-12-x86_64",
		.python = given->python,
		.made = 7,
		.received = given->order / SECOND,
		.order = given->order,
		.by = "ci",
		.address = "",
		.views = given->views,
		.passed = 10,
		.failed = given->failed,
		.wheels = 2};
	CLEANUP(buf_release) struct buf packed;
	buf_init(&packed, 1000);
	two_ok(compress_zstd(STR("the file"), 1, &packed, &e), &e);
	CLEANUP(catalog_rollback) struct catalog_transaction t = {0};
	two_ok(catalog_begin(two_scan, &t, &e), &e);
	int added = catalog_evidence_put(two_scan, &r, wheel, buf_view(&packed), &e);
	two_ok(added, &e);
	two_ok(catalog_commit(&t, &e), &e);
	return added;
}

static int print_record(void *ctx, const struct catalog_evidence *r, struct err *e UNUSED)
{
	assert_string_equal(r->platform, "debian-12-x86_64");
	assert_string_equal(r->by, "ci");
	assert_string_equal(r->address, "");
	assert_null(r->overrides);
	assert_int_equal(r->made, 7);
	assert_int_equal(r->received, r->order / SECOND);
	assert_int_equal(r->passed, 10);
	assert_int_equal(r->wheels, 2);
	buf_printf(ctx, "%d %s %s %s;", r->id[0], r->kind, r->python, r->failed ? "red" : "green");
	return 0;
}

static void assert_newest_of(const char *project, const char *view, const char *kind, const char *python,
	const uint8_t *sha256, const char *expected)
{
	const struct catalog_tested wheel = {.project = project, .sha256 = sha256};
	struct err e = ERR_INIT;
	CLEANUP(buf_release) struct buf out;
	buf_init(&out, 1000);
	two_ok(catalog_evidence_newest(two_other, view, kind, "debian-12-x86_64", python, &wheel, print_record, &out,
		       &e),
		&e);
	assert_string_equal(out.data, expected);
}

static void assert_newest(const char *view, const char *kind, const char *python, const uint8_t *sha256,
	const char *expected)
{
	assert_newest_of("foo", view, kind, python, sha256, expected);
}

static const struct given records[] = {
	{1, "unit", "3.11", "*", 1 * (int64_t)SECOND, 0, two_ones},
	{2, "unit", "3.11", "nightly tested", 2 * (int64_t)SECOND, 1, two_ones},
	{3, "unit", "3.12", "*", 3 * (int64_t)SECOND, 0, two_ones},
	{4, "gpu", "3.11", "rel*", 4 * (int64_t)SECOND, 0, two_twos},
};

static void put_records(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(records); i++)
		assert_int_equal(put_record(&records[i]), 1);
}

static void newest_of_a_cell_counts_for_its_views(void **state UNUSED)
{
	put_records();
	assert_newest("tested", "unit", "3.11", two_ones, "2 unit 3.11 red;");
	assert_newest("nightly", "unit", "3.11", two_ones, "2 unit 3.11 red;");
	assert_newest("night", "unit", "3.11", two_ones, "1 unit 3.11 green;");
	assert_newest("tested", "unit", "3.12", two_ones, "3 unit 3.12 green;");
	assert_newest("tested", "unit", "3.11", two_twos, "");
	assert_newest("tested", "gpu", "3.11", two_twos, "");
	assert_newest("released", "gpu", "3.11", two_twos, "4 gpu 3.11 green;");
	assert_newest_of("bar", "released", "gpu", "3.11", (const uint8_t[SHA256_SIZE]){9}, "4 gpu 3.11 green;");
}

// The same bytes as a file of another project are not what the record is about.
static void record_counts_for_the_project_that_it_names(void **state UNUSED)
{
	put_records();
	assert_newest_of("bar", "tested", "unit", "3.11", two_ones, "");
	assert_newest("released", "gpu", "3.11", (const uint8_t[SHA256_SIZE]){9}, "");
}

static void same_record_changes_nothing(void **state UNUSED)
{
	put_records();
	struct given again = records[0];
	again.order = 9 * (int64_t)SECOND;
	assert_int_equal(put_record(&again), 0);
	assert_newest("tested", "unit", "3.11", two_ones, "2 unit 3.11 red;");
}

static void assert_list(const struct catalog_tested *wheel, int64_t since, uint64_t most, const char *expected)
{
	struct err e = ERR_INIT;
	CLEANUP(buf_release) struct buf out;
	buf_init(&out, 1000);
	two_ok(wheel ? catalog_evidence_of(two_other, wheel, most, print_record, &out, &e)
		     : catalog_evidence_since(two_other, since, most, print_record, &out, &e),
		&e);
	assert_string_equal(out.data, expected);
}

static void lists_have_the_newest_first(void **state UNUSED)
{
	put_records();
	const struct catalog_tested foo = {.project = "foo", .sha256 = two_ones},
				   bar = {.project = "bar", .sha256 = two_ones};
	assert_list(&foo, 0, 10, "3 unit 3.12 green;2 unit 3.11 red;1 unit 3.11 green;");
	assert_list(&foo, 0, 1, "3 unit 3.12 green;");
	assert_list(&bar, 0, 10, "");
	assert_list(NULL, 3, 10, "4 gpu 3.11 green;3 unit 3.12 green;");
	assert_list(NULL, 0, 1, "4 gpu 3.11 green;");
	assert_list(NULL, INT64_MAX, 10, "");
}

static int count_build(void *ctx, const struct catalog_evidence *row UNUSED, const struct catalog_tested *tested UNUSED,
	struct err *e UNUSED)
{
	++*(int *)ctx;
	return 0;
}

// Exceeds LIMIT_EVIDENCE_BUILDS: the record names one more.
static void wheel_is_compared_with_the_newest_builds_alone(void **state UNUSED)
{
	enum { BUILDS = LIMIT_EVIDENCE_BUILDS + 1 };
	static uint8_t hash[BUILDS][SHA256_SIZE];
	static struct catalog_tested wheel[BUILDS];
	struct err e = ERR_INIT;
	int seen = 0;
	for (int i = 0; i < BUILDS; i++) {
		memcpy(hash[i], &i, sizeof(i));
		hash[i][SHA256_SIZE - 1] = 1;
		wheel[i] = (struct catalog_tested){
			.project = "many", .sha256 = hash[i], .version = STR("1"), .filename = "many-1.whl"};
	}
	const struct catalog_evidence r = {.id = {77}, .kind = "unit", .platform = "debian-12-x86_64", .python = "3.11", .by = "ci",
		.address = "", .views = "v", .wheels = BUILDS};
	CLEANUP(catalog_rollback) struct catalog_transaction t = {0};
	two_ok(catalog_begin(two_scan, &t, &e), &e);
	two_ok(catalog_evidence_put(two_scan, &r, wheel, STR("packed"), &e), &e);
	const struct catalog_tested mine = {
		.project = "many", .sha256 = (const uint8_t[SHA256_SIZE]){9}, .version = STR("1"), .filename = "many-1.whl"};
	two_ok(catalog_evidence_builds(two_scan, "v", "unit", "debian-12-x86_64", "3.11", &mine, count_build, &seen, &e), &e);
	assert_int_equal(seen, LIMIT_EVIDENCE_BUILDS);
	seen = 0; // those that do not count for the view take no place
	two_ok(catalog_evidence_builds(two_scan, "w", "unit", "debian-12-x86_64", "3.11", &mine, count_build, &seen, &e), &e);
	assert_int_equal(seen, 0);
}

static void record_is_found_and_read(void **state UNUSED)
{
	struct err e = ERR_INIT;
	int64_t last = -1;
	CLEANUP(buf_release) struct buf out;
	buf_init(&out, 1000);
	two_ok(catalog_evidence_last(two_other, &last, &e), &e);
	assert_int_equal(last, 0);
	put_records();
	two_ok(catalog_evidence_last(two_other, &last, &e), &e);
	assert_int_equal(last, 4 * (int64_t)SECOND);
	assert_int_equal(catalog_evidence_find(two_other, (const uint8_t[SHA256_SIZE]){2}, print_record, &out, &e), 1);
	assert_int_equal(catalog_evidence_find(two_other, (const uint8_t[SHA256_SIZE]){5}, print_record, &out, &e), 0);
	two_ok(catalog_evidence_get(two_other, (const uint8_t[SHA256_SIZE]){2}, &out, &e), &e);
	assert_string_equal(out.data, "2 unit 3.11 red;the file");
	assert_int_equal(catalog_evidence_get(two_other, (const uint8_t[SHA256_SIZE]){5}, &out, &e), -1);
	assert_int_equal(e.kind, ERR_NOT_FOUND);
}

static int print_id(void *ctx, const uint8_t id[SHA256_SIZE], struct err *e UNUSED)
{
	buf_printf(ctx, "%d;", id[0]);
	return 0;
}

static void assert_ids(uint8_t first, const char *expected)
{
	struct err e = ERR_INIT;
	CLEANUP(buf_release) struct buf out;
	buf_init(&out, 1000);
	two_ok(catalog_evidence_ids(two_other, first, print_id, &out, &e), &e);
	assert_string_equal(out.data, expected);
}

static void scan_compares_folder_by_folder(void **state UNUSED)
{
	struct err e = ERR_INIT;
	int64_t mtime = -1;
	put_records();
	assert_ids(2, "2;");
	assert_ids(0xff, "");
	two_ok(catalog_evidence_folder(two_other, 2, &mtime, &e), &e);
	assert_int_equal(mtime, 0);
	CLEANUP(catalog_rollback) struct catalog_transaction t = {0};
	two_ok(catalog_begin(two_scan, &t, &e), &e);
	two_ok(catalog_evidence_remove(two_scan, (const uint8_t[SHA256_SIZE]){2}, &e), &e);
	two_ok(catalog_evidence_folder_set(two_scan, 2, 5, &e), &e);
	two_ok(catalog_evidence_folder_set(two_scan, 2, 6, &e), &e);
	two_ok(catalog_commit(&t, &e), &e);
	assert_ids(2, "");
	assert_newest("tested", "unit", "3.11", two_ones, "1 unit 3.11 green;");
	two_ok(catalog_evidence_folder(two_other, 2, &mtime, &e), &e);
	assert_int_equal(mtime, 6);
}

#define WITH_BOTH(test) cmocka_unit_test_setup_teardown(test, two_open, two_close)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_BOTH(newest_of_a_cell_counts_for_its_views),
		WITH_BOTH(record_counts_for_the_project_that_it_names),
		WITH_BOTH(same_record_changes_nothing),
		WITH_BOTH(lists_have_the_newest_first),
		WITH_BOTH(wheel_is_compared_with_the_newest_builds_alone),
		WITH_BOTH(record_is_found_and_read),
		WITH_BOTH(scan_compares_folder_by_folder),
	};
	return cmocka_run_group_tests(tests, two_make_folder, two_remove_folder);
}
