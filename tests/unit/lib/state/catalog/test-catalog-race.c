// SPDX-License-Identifier: Apache-2.0
// What a scan and another process do to each other: no commit of one is lost by the other.
#include "tests/unit/support/two-catalogs.h"

#include <pthread.h>
#include <stdatomic.h>

// What was uploaded after the scan had found it gone stays.
static void file_that_came_back_is_not_removed(void **state UNUSED)
{
	two_put_new(two_other, two_root, two_ones);
	struct catalog_known known = two_look(two_root);
	two_put_new(two_other, two_root, two_twos); // the same row
	assert_int_equal(two_look(two_root).id, known.id);
	assert_false(two_remove(two_scan, &known));
	two_assert_page("2;");
	known = two_look(two_root);
	assert_true(two_remove(two_scan, &known));
	two_assert_page("");
}

static void same_bytes_put_again_are_not_removed(void **state UNUSED)
{
	two_put_new(two_other, two_root, two_ones);
	struct catalog_known known = two_look(two_root);
	two_put_new(two_other, two_root, two_ones);
	assert_false(two_remove(two_scan, &known));
	two_assert_page("1;");
}

static void file_that_somebody_removed_is_not_removed_again(void **state UNUSED)
{
	two_put_new(two_other, two_root, two_ones);
	struct catalog_known known = two_look(two_root);
	assert_true(two_remove(two_other, &known));
	assert_false(two_remove(two_scan, &known));
	assert_false(two_remove(two_scan, &known));
}

// SQLite gives the id of the last row away again.
static void other_file_under_the_same_id_is_not_removed(void **state UNUSED)
{
	two_put_new(two_other, two_root, two_ones);
	struct catalog_known known = two_look(two_root);
	assert_true(two_remove(two_other, &known));
	two_put_new(two_other, two_sub, two_twos);
	assert_int_equal(two_look(two_sub).id, known.id);
	assert_false(two_remove(two_scan, &known));
	two_assert_page("2;");
}

static void new_file_that_somebody_wrote_meanwhile_is_his(void **state UNUSED)
{
	struct catalog_known nothing = two_look(two_root);
	two_put_new(two_other, two_root, two_twos);
	assert_true(two_put_as_scan(two_root, two_ones, &nothing).was_left);
	two_assert_page("2;");
}

static void known_file_that_somebody_wrote_meanwhile_is_his(void **state UNUSED)
{
	two_put_new(two_other, two_root, two_ones);
	struct catalog_known known = two_look(two_root);
	two_put_new(two_other, two_root, two_twos);
	assert_true(two_put_as_scan(two_root, two_ones, &known).was_left);
	two_assert_page("2;");
	known = two_look(two_root);
	assert_false(two_put_as_scan(two_root, two_ones, &known).was_left);
	two_assert_page("1;");
}

static void known_file_that_somebody_removed_stays_removed(void **state UNUSED)
{
	two_put_new(two_other, two_root, two_ones);
	struct catalog_known known = two_look(two_root);
	assert_true(two_remove(two_other, &known));
	assert_true(two_put_as_scan(two_root, two_ones, &known).was_left);
	two_assert_page("");
}

static void upload_takes_the_row_of_its_name(void **state UNUSED)
{
	struct catalog_known nothing = two_look(two_root);
	two_put_as_scan(two_root, two_ones, &nothing);
	struct catalog_known known = two_look(two_root);
	two_put_new(two_other, two_root, two_twos);
	assert_int_equal(two_look(two_root).id, known.id);
	two_assert_page("2;");
}

// The listing of a name is not a fact about the file.
static void competitor_does_not_stop_a_removal(void **state UNUSED)
{
	two_put_new(two_other, two_sub, two_twos);
	struct catalog_known known = two_look(two_sub);
	two_put_new(two_other, two_root, two_ones); // "/" comes before "b/"
	two_assert_page("1;");
	assert_true(two_remove(two_scan, &known));
	two_assert_page("1;");
}

static bool has_folder(const char *below)
{
	struct err e = ERR_INIT;
	struct catalog_folder found;
	return catalog_folder_find(two_scan, two_platform, below, &found, &e) == 0;
}

static void remove_folder_row(int64_t id)
{
	struct err e = ERR_INIT;
	CLEANUP(catalog_rollback) struct catalog_transaction t = {0};
	two_ok(catalog_begin(two_scan, &t, &e), &e);
	two_ok(catalog_folder_remove(two_scan, id, &e), &e);
	two_ok(catalog_commit(&t, &e), &e);
}

static void folder_with_something_in_it_stays(void **state UNUSED)
{
	two_put_new(two_other, two_sub, two_ones);
	remove_folder_row(two_sub);
	two_assert_page("1;");
	struct catalog_known known = two_look(two_sub);
	assert_true(two_remove(two_scan, &known));
	int64_t below = two_ensure(two_other, "b/c");
	remove_folder_row(two_sub);
	assert_true(has_folder("b/c"));
	remove_folder_row(below);
	two_mark(two_other, two_sub, MARK_PRUNED, "", 0);
	remove_folder_row(two_sub);
	assert_true(has_folder("b"));
	two_mark(two_other, two_sub, MARK_PRUNED, NULL, 0);
	remove_folder_row(two_sub);
	assert_false(has_folder("b"));
}

static void folders_are_made_with_those_above(void **state UNUSED)
{
	struct err e = ERR_INIT;
	struct catalog_folder found;
	int64_t id = two_ensure(two_other, "x/y/z");
	assert_int_equal(two_ensure(two_scan, "x/y/z"), id);
	two_ok(catalog_folder_find(two_scan, two_platform, "x/y/z", &found, &e), &e);
	assert_int_equal(found.id, id);
	assert_false(found.trusted);
	assert_true(has_folder("x"));
	assert_true(has_folder("x/y"));
	assert_int_equal(two_ensure(two_other, ""), two_root);
}

static void mark_that_somebody_set_meanwhile_is_his(void **state UNUSED)
{
	two_put_new(two_other, two_root, two_ones);
	int64_t nothing = two_look_at_mark(two_root);
	two_mark(two_other, two_root, MARK_YANKED, "his", 0);
	assert_true(two_mark(two_scan, two_root, MARK_YANKED, "seen", nothing).was_left);
	two_assert_page("1 yanked his;");
	int64_t seen = two_look_at_mark(two_root);
	two_mark(two_other, two_root, MARK_YANKED, "his again", 0);
	assert_true(two_mark(two_scan, two_root, MARK_YANKED, NULL, seen).was_left);
	two_assert_page("1 yanked his again;");
}

// The scan saw a mark that it did not know, and which was taken off before it wrote.
static void mark_that_somebody_took_off_stays_off(void **state UNUSED)
{
	two_put_new(two_other, two_root, two_ones);
	int64_t nothing = two_look_at_mark(two_root);
	two_mark(two_other, two_root, MARK_YANKED, "his", 0);
	two_mark(two_other, two_root, MARK_YANKED, NULL, 0);
	assert_true(two_mark(two_scan, two_root, MARK_YANKED, "his", nothing).was_left);
	two_assert_page("1;");
	int64_t off = two_look_at_mark(two_root);
	assert_int_not_equal(off, 0);
	assert_false(two_mark(two_scan, two_root, MARK_YANKED, NULL, off).was_left);
	assert_int_equal(two_look_at_mark(two_root), 0);
}

// What a platform holds, as both say it.
static void assert_totals(uint64_t projects, uint64_t files, uint64_t bytes)
{
	struct catalog *const both[] = {two_scan, two_other};
	for (size_t i = 0; i < ARRAY_SIZE(both); i++) {
		struct err e = ERR_INIT;
		struct catalog_totals totals;
		two_ok(catalog_totals(both[i], two_platform, &totals, &e), &e);
		assert_int_equal(totals.projects, projects);
		assert_int_equal(totals.files, files);
		assert_int_equal(totals.bytes, bytes);
	}
}

static void totals_follow_whoever_writes(void **state UNUSED)
{
	struct catalog_entry six = two_entry(two_root, two_ones), seven = two_entry(two_sub, two_twos);
	six.size = 10;
	seven.size = 7;
	seven.filename = "seven-1.0-py3-none-any.whl";
	seven.project = "seven";
	assert_totals(0, 0, 0);
	two_put(two_other, &six);
	assert_totals(1, 1, 10);
	two_put(two_scan, &seven);
	assert_totals(2, 2, 17);
	seven.filename = "seven-2.0-py3-none-any.whl";
	two_put(two_other, &seven);
	assert_totals(2, 3, 24);
	two_mark(two_other, two_root, MARK_PRUNED, "too old", 0);
	assert_totals(1, 2, 14);
	six.size = 11;
	six.sha256 = two_twos;
	two_mark(two_other, two_root, MARK_PRUNED, NULL, 0);
	two_put(two_other, &six);
	assert_totals(2, 3, 25);
}

// Returns before the commit, as a function does after an error.
static void put_without_commit(void)
{
	struct err e = ERR_INIT;
	struct catalog_effect effect;
	struct catalog_entry six = two_entry(two_root, two_ones);
	CLEANUP(catalog_rollback) struct catalog_transaction t = {0};
	two_ok(catalog_begin(two_scan, &t, &e), &e);
	two_ok(catalog_file_put(two_scan, &six, &effect, &e), &e);
}

static void scope_without_commit_is_rolled_back(void **state UNUSED)
{
	put_without_commit();
	two_assert_page("");
	two_put_new(two_scan, two_root, two_twos); // no transaction is left open
	two_assert_page("2;");
}

static void transaction_ends_once(void **state UNUSED)
{
	struct err e = ERR_INIT;
	struct catalog_transaction none = {0}, first = {0}, second = {0};
	catalog_rollback(&none);
	two_ok(catalog_begin(two_scan, &first, &e), &e);
	assert_int_equal(catalog_begin(two_scan, &second, &e), -1); // the first is open
	assert_null(second.catalog);
	catalog_rollback(&second); // the first stays open
	two_ok(catalog_commit(&first, &e), &e);
	assert_null(first.catalog);
	catalog_rollback(&first);
}

static atomic_bool has_begun;

static void *write_as_other(void *e)
{
	atomic_store(&has_begun, true);
	CLEANUP(catalog_rollback) struct catalog_transaction t = {0};
	if (catalog_begin(two_other, &t, e) < 0 || catalog_commit(&t, e) < 0)
		return e;
	return NULL;
}

// A second writer waits for the first, whether the first commits or rolls back.
static void writer_waits_for_his_turn(void **state UNUSED)
{
	for (int commits = 0; commits < 2; commits++) {
		struct err e = ERR_INIT, his = ERR_INIT;
		void *trouble = NULL;
		pthread_t thread;
		atomic_store(&has_begun, false);
		CLEANUP(catalog_rollback) struct catalog_transaction t = {0};
		two_ok(catalog_begin(two_scan, &t, &e), &e);
		assert_int_equal(pthread_create(&thread, NULL, write_as_other, &his), 0);
		while (!atomic_load(&has_begun))
			sched_yield();
		for (int i = 0; i < 1000; i++) // most often it has been refused by then
			sched_yield();
		if (commits)
			two_ok(catalog_commit(&t, &e), &e);
		else
			catalog_rollback(&t);
		assert_int_equal(pthread_join(thread, &trouble), 0);
		two_ok(trouble ? -1 : 0, &his);
	}
}

#define WITH_BOTH(test) cmocka_unit_test_setup_teardown(test, two_open, two_close)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_BOTH(file_that_came_back_is_not_removed),
		WITH_BOTH(same_bytes_put_again_are_not_removed),
		WITH_BOTH(file_that_somebody_removed_is_not_removed_again),
		WITH_BOTH(other_file_under_the_same_id_is_not_removed),
		WITH_BOTH(new_file_that_somebody_wrote_meanwhile_is_his),
		WITH_BOTH(known_file_that_somebody_wrote_meanwhile_is_his),
		WITH_BOTH(known_file_that_somebody_removed_stays_removed),
		WITH_BOTH(upload_takes_the_row_of_its_name),
		WITH_BOTH(competitor_does_not_stop_a_removal),
		WITH_BOTH(folder_with_something_in_it_stays),
		WITH_BOTH(folders_are_made_with_those_above),
		WITH_BOTH(mark_that_somebody_set_meanwhile_is_his),
		WITH_BOTH(mark_that_somebody_took_off_stays_off),
		WITH_BOTH(totals_follow_whoever_writes),
		WITH_BOTH(scope_without_commit_is_rolled_back),
		WITH_BOTH(transaction_ends_once),
		WITH_BOTH(writer_waits_for_his_turn),
	};
	return cmocka_run_group_tests(tests, two_make_folder, two_remove_folder);
}
