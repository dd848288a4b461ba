// SPDX-License-Identifier: Apache-2.0
// Memberships in the catalog: each generation keeps its members, and pages have only those with the listed bytes.
#include "lib/state/catalog/catalog-view.h"

#include <stdlib.h>
#include <string.h>

#include "tests/unit/support/two-catalogs.h"

static const uint8_t threes[SHA256_SIZE] = {3, 3, 3};

struct change {
	int64_t generation;
	const uint8_t *add, *remove; // of six; NULL: none
};

static int put_change(const struct change *change, struct err *e)
{
	const struct catalog_generation g = {.number = change->generation,
		.made = 100 * change->generation,
		.action = "promote",
		.by = "ci",
		.reason = "night",
		.added = change->add != NULL,
		.removed = change->remove != NULL,
		.packed = STR("packed")};
	const struct catalog_member m = {
		.platform = two_platform, .project = "six", .filename = two_six, .sha256 = change->add};
	if (catalog_view_append(two_scan, "tested", &g, threes, e) < 0)
		return -1;
	if (change->add && catalog_view_add_member(two_scan, "tested", g.number, &m, e) < 0)
		return -1;
	return change->remove
		       ? catalog_view_end_member(two_scan, "tested", g.number, two_platform, two_six, change->remove, e)
		       : 0;
}

// The kind of the error; ERR_NONE: it is committed.
static enum err_kind try_change(int64_t generation, const uint8_t *add, const uint8_t *remove)
{
	struct err e = ERR_INIT, why = ERR_INIT;
	CLEANUP(catalog_rollback) struct catalog_transaction t = {0};
	two_ok(catalog_begin(two_scan, &t, &e), &e);
	if (put_change(&(struct change){generation, add, remove}, &why) < 0)
		return why.kind;
	two_ok(catalog_commit(&t, &e), &e);
	return ERR_NONE;
}

static void change_view(int64_t generation, const uint8_t *add, const uint8_t *remove)
{
	assert_int_equal(try_change(generation, add, remove), ERR_NONE);
}

static void assert_view(int64_t generation, bool is_damaged)
{
	struct err e = ERR_INIT;
	struct catalog_view v;
	two_ok(catalog_view_find(two_other, "tested", &v, &e), &e);
	assert_int_equal(v.generation, generation);
	assert_int_equal(v.made, 100 * generation);
	assert_int_equal(v.is_damaged, is_damaged);
	assert_memory_equal(v.sha256, generation ? threes : (const uint8_t[SHA256_SIZE]){0}, SHA256_SIZE);
}

static int print_member(void *ctx, const struct catalog_member *m, struct err *e UNUSED)
{
	assert_int_equal(m->platform, two_platform);
	assert_string_equal(m->project, "six");
	assert_string_equal(m->filename, two_six);
	buf_printf(ctx, "%d since %lld%s;", m->sha256[0], (long long)m->since, m->is_listed ? "" : " unlisted");
	return 0;
}

static void assert_members(int64_t generation, const char *project, const char *expected)
{
	struct err e = ERR_INIT;
	CLEANUP(buf_release) struct buf out;
	buf_init(&out, 1000);
	two_ok(catalog_view_members(two_other, "tested", generation, project, print_member, &out, &e), &e);
	assert_string_equal(out.data, expected);
}

static void assert_has(int64_t generation, const uint8_t *sha256, int expected)
{
	struct err e = ERR_INIT;
	int has = catalog_view_has(two_other, "tested", generation, two_platform, two_six, sha256, &e);
	two_ok(has, &e);
	assert_int_equal(has, expected);
}

static int print_project(void *ctx, const struct catalog_project *p, struct err *e UNUSED)
{
	assert_int_equal(p->platform, two_platform);
	buf_printf(ctx, "%s;", p->project);
	return 0;
}

static void assert_projects(int64_t generation, const char *expected)
{
	struct err e = ERR_INIT;
	CLEANUP(buf_release) struct buf out;
	buf_init(&out, 1000);
	two_ok(catalog_view_projects(two_other, "tested", generation, two_platform, print_project, &out, &e), &e);
	assert_string_equal(out.data, expected);
}

static void assert_pin(const uint8_t *sha256, const char *expected)
{
	struct err e = ERR_INIT;
	CLEANUP(mem_free) char *view = NULL;
	two_ok(catalog_view_pins(two_other, two_platform, two_six, sha256, &view, &e), &e);
	assert_string_equal(view ? view : "", expected);
}

static void set_read(void)
{
	struct err e = ERR_INIT;
	CLEANUP(catalog_rollback) struct catalog_transaction t = {0};
	two_ok(catalog_begin(two_scan, &t, &e), &e);
	two_ok(catalog_views_set_read(two_scan, &e), &e);
	two_ok(catalog_commit(&t, &e), &e);
}

static void view_is_unknown_until_a_scan_has_read_the_folder(void **state UNUSED)
{
	assert_view(0, true);
	set_read();
	assert_view(0, false);
}

static void each_generation_keeps_its_members(void **state UNUSED)
{
	two_put_new(two_other, two_root, two_ones);
	change_view(1, two_ones, NULL);
	change_view(2, NULL, two_ones);
	change_view(3, two_ones, NULL);
	change_view(4, two_twos, two_ones);
	assert_view(4, false);
	assert_members(0, NULL, "");
	assert_members(1, NULL, "1 since 1;");
	assert_members(1, "six", "1 since 1;");
	assert_members(1, "seven", "");
	assert_members(2, NULL, "");
	assert_members(3, "six", "1 since 3;");
	assert_members(GENERATION_NEWEST, NULL, "2 since 4 unlisted;");
	assert_has(1, two_ones, 1);
	assert_has(2, two_ones, 0);
	assert_has(3, two_ones, 1);
	assert_has(GENERATION_NEWEST, two_ones, 0);
	assert_has(GENERATION_NEWEST, two_twos, 1);
	assert_pin(two_ones, "");
	assert_pin(two_twos, "tested");
}

static void project_is_there_while_its_bytes_are_listed(void **state UNUSED)
{
	change_view(1, two_ones, NULL);
	assert_projects(GENERATION_NEWEST, "");
	two_put_new(two_other, two_root, two_ones);
	assert_projects(GENERATION_NEWEST, "six;");
	assert_projects(0, "");
	two_put_new(two_other, two_root, two_twos); // other bytes
	assert_projects(GENERATION_NEWEST, "");
	two_put_new(two_other, two_root, two_ones);
	two_mark(two_other, two_root, MARK_PRUNED, "gone", 0);
	assert_projects(GENERATION_NEWEST, "");
	assert_members(GENERATION_NEWEST, "six", "1 since 1 unlisted;");
}

static void change_that_does_not_fit_is_refused(void **state UNUSED)
{
	assert_int_equal(try_change(2, two_ones, NULL), ERR_CONFLICT);
	change_view(1, two_ones, NULL);
	assert_int_equal(try_change(1, two_twos, NULL), ERR_CONFLICT);
	assert_int_equal(try_change(3, two_twos, NULL), ERR_CONFLICT);
	assert_int_equal(try_change(2, two_ones, NULL), ERR_CONFLICT); // it is a member
	assert_int_equal(try_change(2, NULL, two_twos), ERR_CONFLICT); // it is none
	change_view(2, two_twos, NULL);
	assert_members(GENERATION_NEWEST, NULL, "1 since 1 unlisted;2 since 2 unlisted;");
}

static int print_generation(void *ctx, const struct catalog_generation *g, struct err *e UNUSED)
{
	assert_string_equal(g->action, "promote");
	assert_string_equal(g->by, "ci");
	assert_string_equal(g->reason, "night");
	assert_int_equal(g->made, 100 * g->number);
	assert_true(str_eq(g->packed, STR("packed")));
	buf_printf(ctx, "%lld +%llu -%llu;", (long long)g->number, (unsigned long long)g->added,
		(unsigned long long)g->removed);
	return 0;
}

static void assert_log(int64_t before, uint64_t most, const char *expected)
{
	struct err e = ERR_INIT;
	CLEANUP(buf_release) struct buf out;
	buf_init(&out, 1000);
	two_ok(catalog_view_generations(two_other, "tested", before, most, print_generation, &out, &e), &e);
	assert_string_equal(out.data, expected);
}

static void assert_at(int64_t when, int64_t expected)
{
	struct err e = ERR_INIT;
	int64_t generation = -1;
	two_ok(catalog_view_at(two_other, "tested", when, &generation, &e), &e);
	assert_int_equal(generation, expected);
}

static void log_and_times(void **state UNUSED)
{
	assert_at(1000, 0);
	change_view(1, two_ones, NULL);
	change_view(2, NULL, two_ones);
	change_view(3, two_ones, NULL);
	assert_log(INT64_MAX, UINT64_MAX, "3 +1 -0;2 +0 -1;1 +1 -0;");
	assert_log(INT64_MAX, 2, "3 +1 -0;2 +0 -1;");
	assert_log(2, 2, "1 +1 -0;");
	assert_at(99, 0);
	assert_at(100, 1);
	assert_at(299, 2);
	assert_at(INT64_MAX, 3);
}

static int print_view(void *ctx, const char *view, struct err *e UNUSED)
{
	buf_printf(ctx, "%s;", view);
	return 0;
}

static void damage_and_reading_again(void **state UNUSED)
{
	struct err e = ERR_INIT;
	change_view(1, two_ones, NULL);
	CLEANUP(catalog_rollback) struct catalog_transaction t = {0};
	two_ok(catalog_begin(two_scan, &t, &e), &e);
	two_ok(catalog_view_set_damaged(two_scan, "tested", true, &e), &e);
	two_ok(catalog_view_set_damaged(two_scan, "released", true, &e), &e);
	two_ok(catalog_commit(&t, &e), &e);
	assert_view(1, true);
	assert_members(GENERATION_NEWEST, NULL, "1 since 1 unlisted;");
	CLEANUP(buf_release) struct buf names;
	buf_init(&names, 100);
	two_ok(catalog_views(two_other, print_view, &names, &e), &e);
	assert_string_equal(names.data, "released;tested;");
	two_ok(catalog_begin(two_scan, &t, &e), &e);
	two_ok(catalog_view_clear(two_scan, "tested", &e), &e);
	two_ok(catalog_view_set_damaged(two_scan, "tested", false, &e), &e);
	two_ok(catalog_commit(&t, &e), &e);
	assert_view(0, false);
	assert_members(1, NULL, "");
	assert_log(INT64_MAX, 10, "");
}

#define WITH_BOTH(test) cmocka_unit_test_setup_teardown(test, two_open, two_close)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_BOTH(view_is_unknown_until_a_scan_has_read_the_folder),
		WITH_BOTH(each_generation_keeps_its_members),
		WITH_BOTH(project_is_there_while_its_bytes_are_listed),
		WITH_BOTH(change_that_does_not_fit_is_refused),
		WITH_BOTH(log_and_times),
		WITH_BOTH(damage_and_reading_again),
	};
	return cmocka_run_group_tests(tests, two_make_folder, two_remove_folder);
}
