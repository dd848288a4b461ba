// SPDX-License-Identifier: Apache-2.0
// The last plan in the catalog, as others see it while the next one is made.
#include "lib/state/catalog/catalog-plan.h"

#include <string.h>
#include <time.h>

#include "lib/base/limits.h"
#include "tests/unit/support/two-catalogs.h"

static void add(struct catalog_planner *p, const char *project, const char *filename, const char *verdict, bool removes)
{
	struct err e = ERR_INIT;
	char scratch[100]; // what is added is copied
	snprintf(scratch, sizeof(scratch), "%s", filename);
	const struct catalog_planned file = {.platform = two_platform,
		.project = project,
		.version = project ? "1.0" : NULL,
		.filename = scratch,
		.path = scratch,
		.size = 10,
		.verdict = verdict,
		.removes = removes,
		.why = removes ? NULL : "too-young",
		.reason = "since",
		.upstream = removes ? "theirs.whl" : NULL,
		.is_identical = removes};
	two_ok(catalog_plan_add(p, &file, &e), &e);
	memset(scratch, 'x', sizeof(scratch));
}

static struct catalog_planner *begin(struct catalog *c)
{
	struct err e = ERR_INIT;
	struct catalog_planner *p = NULL;
	two_ok(catalog_plan_begin(c, &p, &e), &e);
	return p;
}

static void finish(struct catalog_planner *p, const char *id)
{
	struct err e = ERR_INIT;
	two_ok(catalog_plan_finish(p, id, 77, "{}", &e), &e);
}

// The plan, as the other connection sees it; "" where there is none.
static void assert_last(const char *id)
{
	struct err e = ERR_INIT;
	CLEANUP(buf_release) struct buf found, head;
	int64_t made = 0;
	buf_init(&found, 100);
	buf_init(&head, 100);
	int result = catalog_plan_last(two_other, &found, &made, &head, &e);
	assert_string_equal(found.data, id);
	assert_int_equal(result, *id ? 0 : -1);
	assert_int_equal(e.kind, *id ? ERR_NONE : ERR_NOT_FOUND);
	assert_int_equal(made, *id ? 77 : 0);
	assert_string_equal(head.data, *id ? "{}" : "");
}

static int tell(void *ctx, const struct catalog_planned *f, struct err *e UNUSED)
{
	buf_printf(ctx, "%s %s %s%s;", f->filename, f->verdict, f->removes ? "removes" : f->why,
		f->is_identical ? " identical" : "");
	assert_int_equal(f->platform, two_platform);
	assert_int_equal(f->size, 10);
	assert_string_equal(f->path, f->filename);
	assert_string_equal(f->reason, "since");
	assert_int_equal(f->project != NULL, f->version != NULL);
	assert_int_equal(f->upstream != NULL, f->removes);
	return 0;
}

static void assert_files(const struct catalog_plan_filter *filter, uint64_t skip, uint64_t limit, uint64_t count,
	const char *expected)
{
	struct err e = ERR_INIT;
	CLEANUP(buf_release) struct buf out;
	uint64_t files = 0, bytes = 0;
	buf_init(&out, 10000);
	two_ok(catalog_plan_files(two_other, filter, skip, limit, tell, &out, &e), &e);
	assert_string_equal(out.data, expected);
	two_ok(catalog_plan_count(two_other, filter, &files, &bytes, &e), &e);
	assert_int_equal(files, count);
	assert_int_equal(bytes, 10 * count);
}

static struct catalog_plan_filter any(void)
{
	return (struct catalog_plan_filter){.platform = two_platform, .removes = -1};
}

static void filters(void **state UNUSED)
{
	struct err e = ERR_INIT;
	CLEANUP(catalog_plan_cleanup) struct catalog_planner *p = begin(two_scan);
	add(p, "bar", "Bar-1.whl", "duplicate", true);
	add(p, "bar", "bar-2.whl", "keep", false);
	add(p, "foo", "foo-1.whl", "superseded", true);
	add(p, NULL, "bad%_.whl", "corrupt", false);
	finish(p, "one");
	assert_last("one");
	struct catalog_plan_filter f = any();
	assert_files(&f, 0, 9, 4,
		"Bar-1.whl duplicate removes identical;bar-2.whl keep too-young;foo-1.whl superseded removes identical;"
		"bad%_.whl corrupt too-young;");
	assert_files(&f, 1, 1, 4, "bar-2.whl keep too-young;");
	assert_files(&f, 4, 9, 4, "");
	f.verdict = "keep";
	assert_files(&f, 0, 9, 1, "bar-2.whl keep too-young;");
	f = any();
	f.removes = 0;
	assert_files(&f, 1, 9, 2, "bad%_.whl corrupt too-young;");
	f = any();
	f.text = "bar-";
	assert_files(&f, 0, 9, 2, "Bar-1.whl duplicate removes identical;bar-2.whl keep too-young;");
	f.removes = 1;
	assert_files(&f, 0, 9, 1, "Bar-1.whl duplicate removes identical;");
	f = any();
	f.text = "%";
	assert_files(&f, 0, 9, 1, "bad%_.whl corrupt too-young;");
	f = any();
	f.platform++;
	assert_files(&f, 0, 9, 0, "");
	CLEANUP(buf_release) struct buf out;
	buf_init(&out, 1000);
	two_ok(catalog_plan_project(two_other, "foo", tell, &out, &e), &e);
	assert_string_equal(out.data, "foo-1.whl superseded removes identical;");
}

static void last_one_counts(void **state UNUSED)
{
	struct catalog_plan_filter f = any();
	assert_last("");
	assert_files(&f, 0, 9, 0, "");
	CLEANUP(catalog_plan_cleanup) struct catalog_planner *one = begin(two_scan), *two = begin(two_other);
	for (int i = 0; i < 2500; i++) // more than one transaction
		add(one, "foo", "foo-1.whl", "keep", false);
	assert_last("");
	assert_files(&f, 0, 9, 0, "");
	finish(one, "one");
	assert_files(&f, 2499, 9, 2500, "foo-1.whl keep too-young;");
	add(two, "foo", "foo-2.whl", "keep", false);
	assert_last("one");
	finish(two, "two");
	assert_last("two");
	assert_files(&f, 0, 9, 1, "foo-2.whl keep too-young;");
	CLEANUP(catalog_plan_cleanup) struct catalog_planner *dropped = begin(two_scan), *empty = begin(two_scan);
	add(dropped, "foo", "foo-3.whl", "keep", false);
	finish(empty, "empty");
	assert_last("empty");
	assert_files(&f, 0, 9, 0, "");
}

static int tell_change(void *ctx, const struct catalog_plan_change *x, struct err *e UNUSED)
{
	buf_printf(ctx, "%s %s %s%s;", x->filename, x->before ? x->before : "-", x->verdict ? x->verdict : "-",
		x->removes && !x->removed   ? " removed now"
		: x->removed && !x->removes ? " no longer"
					    : "");
	assert_int_equal(x->platform, two_platform);
	assert_int_equal(x->size, 10);
	return 0;
}

static void assert_changes(const char *former, uint64_t limit, const char *expected)
{
	struct err e = ERR_INIT, none = ERR_INIT;
	int64_t made = 0;
	CLEANUP(buf_release) struct buf out, id;
	buf_init(&out, 1 << 20);
	buf_init(&id, 100);
	assert_int_equal(catalog_plan_former(two_other, &id, &made, &none), *former ? 0 : -1);
	assert_string_equal(id.data, former);
	assert_int_equal(made, *former ? 77 : 0);
	two_ok(catalog_plan_changes_list(two_other, two_platform, limit, tell_change, &out, &e), &e);
	assert_string_equal(out.data, expected);
}

static void changes_since_the_plan_before(void **state UNUSED)
{
	CLEANUP(catalog_plan_cleanup) struct catalog_planner *one = begin(two_scan), *two = begin(two_scan);
	CLEANUP(catalog_plan_cleanup) struct catalog_planner *three = begin(two_scan);
	add(one, "c", "c-1.whl", "keep", false);
	add(one, "b", "b-1.whl", "duplicate", true);
	add(one, "b", "b-2.whl", "superseded", true);
	add(one, "a", "a-1.whl", "duplicate", true);
	add(one, "a", "a-2.whl", "keep", false);
	add(one, NULL, "gone.whl", "corrupt", true);
	add(one, NULL, "gone-too.whl", "keep", false);
	finish(one, "one");
	assert_changes("", 99, "");
	add(two, "a", "a-1.whl", "duplicate", true); // the same
	add(two, "a", "a-2.whl", "off-list", true);
	add(two, "a", "a-3.whl", "keep", false); // new, and kept: of no interest
	add(two, "b", "b-1.whl", "superseded", true);
	add(two, "b", "b-2.whl", "keep", false);
	add(two, "c", "c-1.whl", "keep", false);
	add(two, "d", "d-1.whl", "pure", true);
	finish(two, "two");
	static const char all[] =
		"a-2.whl keep off-list removed now;b-1.whl duplicate superseded;b-2.whl superseded keep no longer;"
		"d-1.whl - pure removed now;gone.whl corrupt - no longer;";
	assert_changes("one", 99, all);
	assert_changes("one", 1, "a-2.whl keep off-list removed now;");
	finish(three, "three"); // about other platforms only
	assert_changes("two", 99, "");
}

static int count_change(void *ctx, const struct catalog_plan_change *x UNUSED, struct err *e UNUSED)
{
	++*(size_t *)ctx;
	return 0;
}

// Exceeds LIMIT_PLAN_CHANGES.
static void changes_are_limited(void **state UNUSED)
{
	struct err e = ERR_INIT;
	size_t count = 0;
	CLEANUP(catalog_plan_cleanup) struct catalog_planner *one = begin(two_scan), *two = begin(two_scan);
	add(one, "a", "a.whl", "keep", false);
	finish(one, "one");
	for (int i = 0; i < LIMIT_PLAN_CHANGES + 1; i++) {
		char name[32];
		snprintf(name, sizeof(name), "b-%d.whl", i);
		add(two, "b", name, "pure", true);
	}
	finish(two, "two");
	two_ok(catalog_plan_changes_list(two_other, two_platform, UINT32_MAX, count_change, &count, &e), &e);
	assert_int_equal(count, LIMIT_PLAN_CHANGES);
}

// The clock is looked at now and then, so that only what reads much is ended. The connection is as good as before.
// Exceeds LIMIT_SEARCH_MS.
static void reading_ends_in_time(void **state UNUSED)
{
	struct err e = ERR_INIT;
	uint64_t files = 0, bytes = 0;
	CLEANUP(catalog_plan_cleanup) struct catalog_planner *p = begin(two_scan);
	for (int i = 0; i < 20000; i++)
		add(p, "foo", "foo-1.whl", "keep", false);
	finish(p, "large");
	struct catalog_plan_filter f = any();
	f.text = "nothing";
	catalog_limit(two_other, 1);
	nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
	assert_int_equal(catalog_plan_count(two_other, &f, &files, &bytes, &e), -1);
	assert_int_equal(e.kind, ERR_TIME);
	assert_false(catalog_has_failed(two_other));
	assert_last("large");
	catalog_limit(two_other, 0);
	assert_files(&f, 0, 9, 0, "");
	catalog_limit(two_other, 600000);
	assert_files(&f, 0, 9, 0, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(filters, two_open, two_close),
		cmocka_unit_test_setup_teardown(last_one_counts, two_open, two_close),
		cmocka_unit_test_setup_teardown(changes_since_the_plan_before, two_open, two_close),
		cmocka_unit_test_setup_teardown(changes_are_limited, two_open, two_close),
		cmocka_unit_test_setup_teardown(reading_ends_in_time, two_open, two_close),
	};
	return cmocka_run_group_tests(tests, two_make_folder, two_remove_folder);
}
