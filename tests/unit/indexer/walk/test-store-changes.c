// SPDX-License-Identifier: Apache-2.0
#include "indexer/walk/store-changes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "lib/base/limits.h"

static void add_numbered(struct store_changes *c, const char *folder, int from, int to)
{
	char name[32];
	for (int i = from; i < to; i++) {
		snprintf(name, sizeof(name), "%08d.whl", i);
		store_changes_add(c, folder, name, false);
	}
}

static void test_names_are_collected_once_for_each_folder(void **state UNUSED)
{
	CLEANUP(store_changes_release) struct store_changes c = {0};
	assert_true(store_changes_is_empty(&c));
	store_changes_add(&c, "p/a", "y", false);
	store_changes_add(&c, "p/b", "x", false);
	store_changes_add(&c, "p/a", "x", false);
	store_changes_add(&c, "p/a", "y", false);
	store_changes_add(&c, "p", "b", true);
	assert_false(store_changes_is_empty(&c));
	store_changes_sort(&c);
	assert_int_equal(c.count, 3);
	assert_string_equal(c.folder[0].path, "p/a");
	assert_int_equal(c.folder[0].names.count, 2);
	assert_string_equal(c.folder[0].names.item[0], "x");
	assert_false(c.folder[0].is_deep);
	assert_string_equal(c.folder[2].path, "p");
	assert_true(c.folder[2].is_deep);
	assert_false(c.is_whole);
}

// Exceeds LIMIT_CHANGED_NAMES.
static void test_a_folder_with_many_names_is_listed(void **state UNUSED)
{
	CLEANUP(store_changes_release) struct store_changes c = {0};
	add_numbered(&c, "p", 0, LIMIT_CHANGED_NAMES - 1);
	assert_false(c.folder[0].is_listed);
	add_numbered(&c, "p", LIMIT_CHANGED_NAMES - 1, LIMIT_CHANGED_NAMES);
	assert_true(c.folder[0].is_listed);
	assert_int_equal(c.folder[0].names.count, 0);
	assert_int_equal(c.names, 0);
	add_numbered(&c, "p", 0, 10);
	assert_int_equal(c.folder[0].names.count, 0);
	store_changes_add(&c, "p", "folder", true);
	assert_true(c.folder[0].is_deep);
}

static void test_few_names_that_change_again_and_again_stay_names(void **state UNUSED)
{
	CLEANUP(store_changes_release) struct store_changes c = {0};
	for (int i = 0; i < 2 * LIMIT_CHANGED_NAMES; i++)
		add_numbered(&c, "p", 0, 5);
	assert_false(c.folder[0].is_listed);
	store_changes_sort(&c);
	assert_int_equal(c.folder[0].names.count, 5);
}

// Exceeds LIMIT_CHANGED_NAMES_ALL.
static void test_all_names_together_are_bounded(void **state UNUSED)
{
	CLEANUP(store_changes_release) struct store_changes c = {0};
	char folder[32];
	const int each = LIMIT_CHANGED_NAMES - 1;
	for (int i = 0; i < LIMIT_CHANGED_NAMES_ALL / each + 10; i++) {
		snprintf(folder, sizeof(folder), "p/%d", i);
		add_numbered(&c, folder, 0, each);
		assert_true(c.names <= LIMIT_CHANGED_NAMES_ALL);
	}
	assert_true(c.folder[c.count - 1].is_listed);
	assert_false(c.folder[0].is_listed);
}

// Exceeds LIMIT_CHANGED_FOLDERS.
static void test_very_many_folders_are_the_whole_store(void **state UNUSED)
{
	CLEANUP(store_changes_release) struct store_changes c = {0};
	char folder[32];
	for (int i = 0; i <= LIMIT_CHANGED_FOLDERS; i++) {
		assert_false(c.is_whole);
		snprintf(folder, sizeof(folder), "p/%d", i);
		store_changes_add(&c, folder, "x", false);
	}
	assert_true(c.is_whole);
	store_changes_add(&c, "p/more", "x", false);
	assert_int_equal(c.count, 0);
	assert_false(store_changes_is_empty(&c));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names_are_collected_once_for_each_folder),
		cmocka_unit_test(test_a_folder_with_many_names_is_listed),
		cmocka_unit_test(test_few_names_that_change_again_and_again_stay_names),
		cmocka_unit_test(test_all_names_together_are_bounded),
		cmocka_unit_test(test_very_many_folders_are_the_whole_store),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
