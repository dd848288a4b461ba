// SPDX-License-Identifier: Apache-2.0
// How SQLite runs the catalog's statements: each finds its rows by an index, except those that are about a whole table.
#include <string.h>

#include <sqlite3.h>

#include "lib/state/catalog/schema.h"
#include "tests/unit/support/two-catalogs.h"

// These read a whole table: a scan, a check or a plan of a prune runs them, or there is a row for each platform only.
static const bool reads_all[STATEMENT_COUNT] = {
	[PLATFORM_LIST] = true,
	[FILES_GOOD] = true,
	[NAME_OWNERS] = true,
	[EXPECTED_LIST] = true, // when one has changed
	[LOST_ALL] = true,      // likewise
	[TOLD_SET_NEW] = true,  // of a new catalog
	[CAME_CHECK] = true,
	[CAME_MEND] = true,
	[CAME_GONE] = true,
	[UPSTREAM_FORGET] = true,
	[UPSTREAM_FORGET_PAGES] = true,
	[UPSTREAM_COUNT] = true, // of an index that has these names only
	[UPSTREAM_NAMES] = true, // of an index that has these names only
	[HISTORIES] = true,
	[UNLISTED_HISTORIES] = true,
	[FILES_SHARED] = true,
	[FILES_MISFIT] = true, // of an index that has these files only
	[INSIDE_LACKING] = true,
	[INSIDE_COUNTS] = true,
	[INSIDE_UNKNOWN] = true,
	[ATTACHMENTS_STRAY] = true,
};

// Tables that have few rows, as the statements name them; and rows that a statement has found by itself.
static const char *const small[] = {
	"CONSTANT ROW", "store", "platform", "l USING", "membership", "retained", "plan", "found"};

static bool is_small(const char *table)
{
	for (size_t i = 0; i < ARRAY_SIZE(small); i++)
		if (strncmp(table, small[i], strlen(small[i])) == 0)
			return true;
	return false;
}

static void assert_indexed(sqlite3 *db, const char *sql)
{
	static const char scan[] = "SCAN ";
	char text[8000];
	sqlite3_stmt *stmt = NULL;
	assert_in_range(snprintf(text, sizeof(text), "EXPLAIN QUERY PLAN %s", sql), 1, sizeof(text) - 1);
	assert_int_equal(sqlite3_prepare_v2(db, text, -1, &stmt, NULL), SQLITE_OK);
	while (sqlite3_step(stmt) == SQLITE_ROW) {
		const char *step = (const char *)sqlite3_column_text(stmt, 3);
		if (strncmp(step, scan, strlen(scan)) == 0 && !is_small(step + strlen(scan)))
			fail_msg("%s: %s", step, sql);
	}
	sqlite3_finalize(stmt);
}

static bool has_plan(const char *sql)
{
	static const char *const none[] = {"PRAGMA", "BEGIN", "COMMIT", "ROLLBACK"};
	for (size_t i = 0; i < ARRAY_SIZE(none); i++)
		if (strncmp(sql, none[i], strlen(none[i])) == 0)
			return false;
	return true;
}

static void statements_use_indexes(void **state UNUSED)
{
	sqlite3 *db = NULL;
	assert_int_equal(sqlite3_open_v2(catalog_path(two_scan), &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
	for (int i = 0; i < STATEMENT_COUNT; i++)
		if (!reads_all[i] && has_plan(schema_statement[i]))
			assert_indexed(db, schema_statement[i]);
	sqlite3_close(db);
}

// Whose rows a token may multiply, and of which the first ones are read: sorting would read them all.
static void builds_are_not_sorted(void **state UNUSED)
{
	sqlite3 *db = NULL;
	sqlite3_stmt *plan = NULL;
	CLEANUP(mem_free) char *sql = xasprintf("EXPLAIN QUERY PLAN %s", schema_statement[EVIDENCE_BUILDS]);
	assert_int_equal(sqlite3_open_v2(catalog_path(two_scan), &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &plan, NULL), SQLITE_OK);
	while (sqlite3_step(plan) == SQLITE_ROW)
		assert_null(strstr((const char *)sqlite3_column_text(plan, 3), "ORDER BY"));
	sqlite3_finalize(plan);
	sqlite3_close(db);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(statements_use_indexes, two_open, two_close),
		cmocka_unit_test_setup_teardown(builds_are_not_sorted, two_open, two_close),
	};
	return cmocka_run_group_tests(tests, two_make_folder, two_remove_folder);
}
