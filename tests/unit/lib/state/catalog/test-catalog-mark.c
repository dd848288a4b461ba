// SPDX-License-Identifier: Apache-2.0
// Marks in the catalog: yanks and tombstones.
#include "tests/unit/support/two-catalogs.h"

static void yank_is_on_the_page_until_it_is_taken_off(void **state UNUSED)
{
	two_put_new(two_other, two_root, two_ones);
	two_mark(two_other, two_root, MARK_YANKED, "broken", 0);
	two_assert_page("1 yanked broken;");
	two_put_new(two_other, two_root, two_twos);
	two_assert_page("2 yanked broken;");
	two_mark(two_other, two_root, MARK_YANKED, "", 0);
	two_assert_page("2 yanked ;");
	two_mark(two_other, two_root, MARK_YANKED, NULL, 0);
	two_assert_page("2;");
}

static int see_project(void *ctx UNUSED, const struct catalog_project *p UNUSED, struct err *e UNUSED)
{
	return 0;
}

static int64_t seen_changes(int64_t since)
{
	struct err e = ERR_INIT;
	two_ok(catalog_changes(two_other, since, see_project, NULL, &since, &e), &e);
	return since;
}

static void mark_changes_the_page(void **state UNUSED)
{
	two_put_new(two_other, two_root, two_ones);
	int64_t before = seen_changes(0);
	two_mark(two_other, two_root, MARK_YANKED, "broken", 0);
	int64_t yanked = seen_changes(before);
	assert_true(yanked > before);
	two_mark(two_other, two_root, MARK_PRUNED, "upstream has it", 0);
	assert_true(seen_changes(yanked) > yanked);
}

// A status of a project that has no file, which is noted for those that follow the catalog.
struct status_seen {
	int64_t status;
	char text[200];
};

static int see_status_change(void *ctx, const struct catalog_project *p, struct err *e UNUSED)
{
	struct status_seen *seen = ctx;
	if (strcmp(p->project, "mine") == 0)
		seen->status = p->status;
	return 0;
}

static int see_status(void *ctx, int64_t platform, const char *folder_path, struct str text, struct err *e UNUSED)
{
	struct status_seen *seen = ctx;
	assert_true(platform == two_platform);
	size_t len = strlen(seen->text);
	snprintf(seen->text + len, sizeof(seen->text) - len, "%s: " STR_FMT ";", folder_path, STR_ARG(text));
	return 0;
}

static void put_status(int64_t folder, const char *text)
{
	struct err e = ERR_INIT;
	struct catalog_effect effect;
	CLEANUP(catalog_rollback) struct catalog_transaction t = {0};
	const struct catalog_mark m = {
		.platform = two_platform, .folder = folder, .folder_path = "", .filename = "mine", .mark = MARK_STATUS, .text = text};
	two_ok(catalog_begin(two_other, &t, &e), &e);
	two_ok(catalog_mark_put(two_other, &m, &effect, &e), &e);
	two_ok(catalog_commit(&t, &e), &e);
	assert_false(effect.was_listed || effect.is_listed);
}

static struct status_seen look_at_status(void)
{
	struct err e = ERR_INIT;
	struct status_seen seen = {0};
	int64_t ignored;
	two_ok(catalog_changes(two_other, 0, see_status_change, &seen, &ignored, &e), &e);
	two_ok(catalog_statuses(two_other, "mine", see_status, &seen, &e), &e);
	return seen;
}

static void status_is_of_a_project_without_files_too(void **state UNUSED)
{
	struct err e = ERR_INIT;
	assert_int_equal(catalog_knows_project(two_other, two_platform, "mine", &e), 0);
	put_status(two_root, "{\"reason\": \"old\"}");
	struct status_seen first = look_at_status();
	assert_true(first.status > 0);
	assert_int_equal(catalog_knows_project(two_other, two_platform, "mine", &e), 1);
	assert_string_equal(first.text, ": {\"reason\": \"old\"};");
	put_status(two_sub, "{}");
	struct status_seen second = look_at_status();
	assert_true(second.status > first.status);
	assert_non_null(strstr(second.text, "{};"));
	put_status(two_root, NULL);
	put_status(two_sub, NULL);
	struct status_seen last = look_at_status();
	assert_true(last.status > second.status);
	assert_string_equal(last.text, "");
	put_status(two_root, "{}");
	CLEANUP(catalog_rollback) struct catalog_transaction t = {0};
	two_ok(catalog_begin(two_other, &t, &e), &e);
	two_ok(catalog_platform_clear(two_other, two_platform, &e), &e);
	two_ok(catalog_commit(&t, &e), &e);
	struct status_seen gone = look_at_status();
	assert_string_equal(gone.text, "");
	assert_true(gone.status > last.status);
}

static void mark_waits_for_its_file(void **state UNUSED)
{
	two_mark(two_other, two_root, MARK_YANKED, "early", 0);
	two_put_new(two_other, two_root, two_ones);
	two_assert_page("1 yanked early;");
}

static void assert_place(bool is_there, bool is_unlisted)
{
	struct err e = ERR_INIT;
	CLEANUP(catalog_place_release) struct catalog_place place = {0};
	int found = catalog_find_file(two_other, two_platform, two_six, &place, &e);
	assert_int_equal(found, is_there ? 0 : -1);
	assert_int_equal(place.is_unlisted, is_unlisted);
}

static void assert_tombstone(const char *expected)
{
	struct err e = ERR_INIT;
	CLEANUP(buf_release) struct buf out;
	buf_init(&out, 1000);
	assert_int_equal(catalog_tombstone(two_other, two_platform, two_six, &out, &e), expected ? 1 : 0);
	assert_string_equal(out.data, expected ? expected : "");
}

static void pruned_file_is_on_no_page_and_has_its_url(void **state UNUSED)
{
	two_put_new(two_other, two_root, two_ones);
	assert_tombstone(NULL);
	struct catalog_effect effect = two_mark(two_other, two_root, MARK_PRUNED, "upstream has it", 0);
	assert_true(effect.was_listed && !effect.is_listed);
	two_assert_page("");
	assert_place(true, true);
	assert_tombstone("upstream has it");
	two_put_new(two_other, two_root, two_twos); // the file is put there again
	two_assert_page("");
	effect = two_mark(two_other, two_root, MARK_PRUNED, NULL, 0);
	assert_true(!effect.was_listed && effect.is_listed);
	two_assert_page("2;");
	assert_place(true, false);
	assert_tombstone(NULL);
}

static void tombstone_outlives_its_file(void **state UNUSED)
{
	two_put_new(two_other, two_root, two_ones);
	two_mark(two_other, two_root, MARK_PRUNED, "gone", 0);
	struct catalog_known known = two_look(two_root);
	assert_true(two_remove(two_other, &known));
	assert_place(false, false);
	assert_tombstone("gone");
	two_put_new(two_other, two_root, two_ones);
	two_assert_page("");
}

// Each copy of the name has marks of its own.
static void duplicate_takes_the_name_of_a_pruned_file(void **state UNUSED)
{
	two_put_new(two_other, two_root, two_ones);
	two_put_new(two_other, two_sub, two_twos);
	two_mark(two_other, two_root, MARK_PRUNED, "", 0);
	two_assert_page("2;");
	assert_place(true, false);
	two_mark(two_other, two_root, MARK_PRUNED, NULL, 0);
	two_assert_page("1;");
	two_mark(two_other, two_sub, MARK_PRUNED, "", 0);
	two_mark(two_other, two_root, MARK_PRUNED, "", 0);
	two_assert_page("");
	two_mark(two_other, two_sub, MARK_PRUNED, NULL, 0);
	two_assert_page("2;");
}

static void refused_file_has_no_marks(void **state UNUSED)
{
	struct catalog_entry bad = two_entry(two_root, two_ones);
	bad.refusal = "junk";
	two_put(two_other, &bad);
	two_mark(two_other, two_root, MARK_YANKED, "broken", 0);
	two_mark(two_other, two_root, MARK_PRUNED, "", 0);
	assert_place(false, false);
	two_mark(two_other, two_root, MARK_PRUNED, NULL, 0);
	two_assert_page("");
	two_put_new(two_other, two_root, two_twos); // it was mended
	two_assert_page("2 yanked broken;");
}

#define WITH_BOTH(test) cmocka_unit_test_setup_teardown(test, two_open, two_close)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_BOTH(yank_is_on_the_page_until_it_is_taken_off),
		WITH_BOTH(mark_changes_the_page),
		WITH_BOTH(status_is_of_a_project_without_files_too),
		WITH_BOTH(mark_waits_for_its_file),
		WITH_BOTH(pruned_file_is_on_no_page_and_has_its_url),
		WITH_BOTH(tombstone_outlives_its_file),
		WITH_BOTH(duplicate_takes_the_name_of_a_pruned_file),
		WITH_BOTH(refused_file_has_no_marks),
	};
	return cmocka_run_group_tests(tests, two_make_folder, two_remove_folder);
}
