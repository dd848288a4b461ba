// SPDX-License-Identifier: Apache-2.0
// What a channel shows, from made-up catalogs.
#include "server/pages/channel-data.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "lib/base/limits.h"
#include "tests/unit/support/channel-store.h"

enum { NOON = 1795348800, DAY = 86400 }; // 2026-11-22 12:00

static void wheel_of(struct channel_store *s, const char *platform, const char *version, const char *tag, int64_t came)
{
	char name[200];
	snprintf(name, sizeof(name), "six-%s-%s-manylinux_2_17_x86_64.whl", version, tag);
	channel_store_wheel(s, platform, name, came);
}

static void test_wheel(struct channel_store *s, const char *filename, const char *kind, const char *platform,
	const char *python, uint64_t failed, const char *overrides)
{
	channel_store_evidence(s, filename,
		&(struct catalog_evidence){.kind = kind,
			.platform = platform,
			.python = python,
			.made = NOON - DAY,
			.by = "nightly",
			.address = "192.0.2.7",
			.views = "tested",
			.overrides = overrides,
			.passed = overrides ? 0 : 100,
			.failed = failed,
			.skipped = overrides ? 0 : 3});
}

static void read_data(struct channel_store *s, const char *view, const char *project, uint64_t limit,
	struct channel_data *out)
{
	struct err e = ERR_INIT;
	const struct channel_query query = {&s->site, site_view(&s->site, str_from(view)), true, true, project, limit, NOON};
	assert_non_null(query.view);
	if (channel_data_read(s->catalog, &query, out, &e) < 0)
		fail_msg("%s", e.msg);
}

// "six debian-12-x86_64/3.11 stale 1.0 newest 2.0 tested 2.0 unit=red"
static void print_rows(const struct channel_data *d, struct buf *out)
{
	for (size_t i = 0; i < d->rows; i++) {
		const struct channel_row *r = &d->row[i];
		buf_printf(out, "%s %.6s/%s %s %s of %s tested %s", r->project, r->platform, r->python,
			view_channel_state_name[r->state], r->version ? r->version : "-", r->newest ? r->newest : "-",
			r->next ? r->next->version : "-");
		for (size_t k = 0; r->test && k < d->kinds; k++)
			buf_printf(out, " %s=%s", d->kind[k], wheel_test_result_name[r->test[k].result]);
		buf_puts(out, ";\n");
	}
}

static void assert_rows(const struct channel_data *d, const char *expected)
{
	CLEANUP(buf_release) struct buf out;
	buf_init(&out, LIMIT_PAGE);
	print_rows(d, &out);
	assert_string_equal(out.len ? out.data : "", expected);
}

static void assert_waiting(const struct channel_data *d, const char *expected)
{
	CLEANUP(buf_release) struct buf out;
	buf_init(&out, LIMIT_PAGE);
	for (size_t i = 0; i < d->waitings; i++)
		buf_printf(&out, "%s %.6s: %s;\n", d->waiting[i].wheel->filename, d->waiting[i].wheel->platform,
			*d->waiting[i].why ? d->waiting[i].why : "ready");
	assert_string_equal(out.len ? out.data : "", expected);
}

#define OLD_311 "six-1.0-cp311-cp311-manylinux_2_17_x86_64.whl"
#define OLD_312 "six-1.0-cp312-cp312-manylinux_2_17_x86_64.whl"
#define NEW_311 "six-2.0-cp311-cp311-manylinux_2_17_x86_64.whl"
#define NEW_312 "six-2.0-cp312-cp312-manylinux_2_17_x86_64.whl"

// 1.0 was promoted for both Pythons of Debian, 2.0 for one; the other 2.0 waits. Pip on Ubuntu takes it there, too.
static void make_nights(struct channel_store *s)
{
	channel_store_wheel(s, CHANNEL_DEBIAN, OLD_311, NOON - 40 * DAY);
	channel_store_wheel(s, CHANNEL_DEBIAN, OLD_312, NOON - 40 * DAY);
	channel_store_wheel(s, CHANNEL_DEBIAN, NEW_311, NOON - DAY);
	channel_store_wheel(s, CHANNEL_DEBIAN, NEW_312, NOON - DAY);
	channel_store_change(s, "promote", CHANNEL_DEBIAN, OLD_311, NOON - 39 * DAY);
	channel_store_change(s, "promote", CHANNEL_DEBIAN, OLD_312, NOON - 39 * DAY);
	channel_store_change(s, "promote", CHANNEL_DEBIAN, NEW_311, NOON - DAY);
}

static void rows_and_what_waits(void **state)
{
	struct channel_store *s = *state;
	CLEANUP(channel_data_release) struct channel_data d = {0};
	make_nights(s);
	test_wheel(s, NEW_311, "unit", CHANNEL_DEBIAN, "3.11", 0, NULL);
	test_wheel(s, NEW_312, "unit", CHANNEL_DEBIAN, "3.12", 2, NULL);
	channel_store_open(s, "requires = unit\n");
	read_data(s, "tested", "", 100, &d);
	assert_rows(&d, "six debian/3.12 behind 1.0 of 2.0 tested 2.0 unit=red;\n"
			"six ubuntu/3.12 behind 1.0 of 2.0 tested 2.0 unit=untested;\n"
			"six debian/3.11 current 2.0 of 2.0 tested 2.0 unit=green;\n");
	assert_waiting(&d, NEW_312 " debian: " CHANNEL_DEBIAN "/3.12: 2 of 102 tests failed (unit);\n");
	assert_int_equal(d.refused, 1);
	assert_int_equal(d.ready, 0);
	assert_string_equal(d.source, "staging");
	assert_string_equal(d.judge, "tested");
	assert_int_equal(d.runs.members.generation, 3);
	assert_int_equal(d.runs.generations, 3);
	assert_int_equal(d.runs.generation[0].number, 3);
	assert_int_equal(d.runs.runs, 2);
	assert_int_equal(d.runs.day[TREND_DAYS - 2].count[TREND_GOOD], 200);
	assert_int_equal(d.runs.day[TREND_DAYS - 2].count[TREND_BAD], 2);
	assert_int_equal(d.runs.day[TREND_DAYS - 2].count[TREND_IDLE], 6);
	assert_false(d.has_more);
}

static void an_override_and_no_tests(void **state)
{
	struct channel_store *s = *state;
	CLEANUP(channel_data_release) struct channel_data d = {0};
	make_nights(s);
	test_wheel(s, NEW_312, "unit", CHANNEL_DEBIAN, "3.12", 0, "the <lab> is down");
	channel_store_open(s, "requires = unit integration\n");
	read_data(s, "tested", "", 100, &d);
	assert_rows(&d, "six debian/3.12 behind 1.0 of 2.0 tested 2.0 unit=override integration=untested;\n"
			"six ubuntu/3.12 behind 1.0 of 2.0 tested 2.0 unit=untested integration=untested;\n"
			"six debian/3.11 current 2.0 of 2.0 tested 2.0 unit=untested integration=untested;\n");
	assert_string_equal(d.row[0].test[0].by, "nightly");
	assert_string_equal(d.row[0].test[0].why, "the <lab> is down");
	assert_int_equal(strlen(d.row[0].test[0].id), SHA256_HEX);
	assert_int_equal(d.runs.overrides, 1);
	assert_waiting(&d, NEW_312 " debian: " CHANNEL_DEBIAN "/3.12: no evidence of kind integration;\n");
}

// What was taken out is not ready, although nothing is required.
static void a_file_that_left(void **state)
{
	struct channel_store *s = *state;
	CLEANUP(channel_data_release) struct channel_data d = {0};
	make_nights(s);
	channel_store_change(s, "promote", CHANNEL_DEBIAN, NEW_312, NOON - DAY);
	channel_store_change(s, "demote", CHANNEL_DEBIAN, NEW_312, NOON - DAY);
	channel_store_open(s, "");
	read_data(s, "tested", "", 100, &d);
	assert_int_equal(d.left, 1);
	assert_int_equal(d.ready + d.refused, 0);
	assert_true(d.waiting[0].has_left);
	assert_waiting(&d,
		NEW_312 " debian: it left in generation 5 (demote: the <b>night</b>): promote its version by "
			"name to take it again;\n");
}

// Of a view without requires the first view that takes files from it says which tests count.
static void the_source_has_the_tests_of_the_next_view(void **state)
{
	struct channel_store *s = *state;
	CLEANUP(channel_data_release) struct channel_data d = {0};
	make_nights(s);
	test_wheel(s, NEW_312, "unit", CHANNEL_DEBIAN, "3.12", 2, NULL);
	channel_store_open(s, "requires = unit\n");
	read_data(s, "staging", "", 100, &d);
	assert_rows(&d, "six debian/3.11 current 2.0 of 2.0 tested 2.0 unit=untested;\n"
			"six debian/3.12 current 2.0 of 2.0 tested 2.0 unit=red;\n"
			"six ubuntu/3.12 current 2.0 of 2.0 tested 2.0 unit=untested;\n");
	assert_null(d.source);
	assert_string_equal(d.judge, "tested");
	assert_waiting(&d, "");
	assert_int_equal(d.runs.generations, 0);
}

static void a_view_that_requires_nothing(void **state)
{
	struct channel_store *s = *state;
	CLEANUP(channel_data_release) struct channel_data d = {0};
	make_nights(s);
	channel_store_open(s, "keep-days = 10\nwarn-days = 3\n");
	read_data(s, "tested", "", 100, &d);
	assert_int_equal(d.kinds, 0);
	assert_null(d.judge);
	assert_waiting(&d, NEW_312 " debian: ready;\n");
	assert_int_equal(d.ready, 1);
	assert_int_equal(d.state[VIEW_CHANNEL_STALE], 2);
	assert_int_equal(d.row[0].state, VIEW_CHANNEL_STALE);
	assert_int_equal(d.row[0].came, NOON - 39 * DAY);
}

// Version 1.0 is of no use, once 2.0 is there for all; 3.0 came long ago, but is the last.
static void versions_that_end(void **state)
{
	struct channel_store *s = *state;
	CLEANUP(channel_data_release) struct channel_data d = {0};
	wheel_of(s, CHANNEL_DEBIAN, "1.0", "py3-none", NOON - 90 * DAY);
	wheel_of(s, CHANNEL_DEBIAN, "2.0", "py3-none", NOON - 28 * DAY);
	wheel_of(s, CHANNEL_DEBIAN, "3.0", "py3-none", NOON - DAY);
	channel_store_change(s, "promote", CHANNEL_DEBIAN, "six-1.0-py3-none-manylinux_2_17_x86_64.whl",
		NOON - 90 * DAY);
	channel_store_change(s, "promote", CHANNEL_DEBIAN, "six-2.0-py3-none-manylinux_2_17_x86_64.whl",
		NOON - 28 * DAY);
	channel_store_change(s, "promote", CHANNEL_DEBIAN, "six-3.0-py3-none-manylinux_2_17_x86_64.whl", NOON - DAY);
	channel_store_open(s, "keep-days = 30\nwarn-days = 5\n");
	read_data(s, "tested", "", 100, &d);
	assert_int_equal(d.endings, 2);
	assert_string_equal(d.ending[0].version, "1.0");
	assert_int_equal(d.ending[0].ends, 0);
	assert_string_equal(d.ending[1].version, "2.0");
	assert_int_equal(d.ending[1].ends, NOON + 2 * DAY);
}

// Lists are cut at the limit, and totals are not.
static void limits_and_filter(void **state)
{
	struct channel_store *s = *state;
	CLEANUP(channel_data_release) struct channel_data cut = {0}, other = {0};
	make_nights(s);
	channel_store_wheel(s, CHANNEL_DEBIAN, "attrs-1.0-py3-none-any.whl", NOON - DAY);
	test_wheel(s, NEW_311, "unit", CHANNEL_DEBIAN, "3.11", 0, NULL);
	test_wheel(s, NEW_312, "unit", CHANNEL_DEBIAN, "3.12", 2, NULL);
	channel_store_open(s, "requires = unit\n");
	read_data(s, "tested", "", 1, &cut);
	assert_true(cut.has_more);
	assert_int_equal(cut.rows, 1);
	assert_int_equal(cut.waitings, 1);
	assert_int_equal(cut.refused, 2);
	assert_int_equal(cut.runs.runs, 1);
	assert_int_equal(cut.runs.generations, 1);
	assert_int_equal(cut.runs.day[TREND_DAYS - 2].count[TREND_GOOD], 200);
	assert_int_equal(cut.projects, 2);
	assert_int_equal(cut.state[VIEW_CHANNEL_BEHIND], 2);
	assert_int_equal(cut.state[VIEW_CHANNEL_EMPTY], 3);
	read_data(s, "tested", "a*", 100, &other);
	assert_rows(&other, "attrs debian/3.11 empty - of - tested 1.0 unit=untested;\n"
			    "attrs debian/3.12 empty - of - tested 1.0 unit=untested;\n"
			    "attrs ubuntu/3.12 empty - of - tested 1.0 unit=untested;\n");
}

// Exceeds LIMIT_CHANNEL_RUNS.
static void counted_records_are_limited(void **state)
{
	struct channel_store *s = *state;
	make_nights(s);
	for (int i = 0; i < 3; i++)
		test_wheel(s, NEW_311, "unit", CHANNEL_DEBIAN, "3.11", (uint64_t)i, NULL);
	channel_store_open(s, "");
	for (uint64_t counted = 1; counted <= 3; counted++) {
		struct err e = ERR_INIT;
		uint64_t passed = 0;
		CLEANUP(arena_release) struct arena text = {0};
		CLEANUP(channel_runs_release) struct channel_runs runs = {0};
		const struct channel_runs_query query = {
			site_view(&s->site, STR("tested")), "tested", 100, NOON, counted, true};
		assert_int_equal(channel_runs_read(s->catalog, &query, &text, &runs, &e), 0);
		for (int i = 0; i < TREND_DAYS; i++)
			passed += runs.day[i].count[TREND_GOOD];
		assert_int_equal(passed, 100 * counted);
		assert_int_equal(runs.runs, counted);
	}
}

static void unknown_views(void **state)
{
	struct channel_store *s = *state;
	struct err e = ERR_INIT;
	struct channel_data d;
	channel_store_open(s, "");
	const struct view *const view[] = {site_view(&s->site, STR("")), site_view(&s->site, STR(CHANNEL_DEBIAN))};
	for (size_t i = 0; i < ARRAY_SIZE(view); i++) {
		const struct channel_query query = {&s->site, view[i], true, true, "", 100, NOON};
		assert_int_equal(channel_data_read(s->catalog, &query, &d, &e), -1);
		assert_int_equal(e.kind, ERR_USAGE);
	}
}

int main(void)
{
#define CHANNEL_TEST(test) cmocka_unit_test_setup_teardown(test, channel_store_set_up, channel_store_tear_down)
	const struct CMUnitTest tests[] = {
		CHANNEL_TEST(rows_and_what_waits),
		CHANNEL_TEST(an_override_and_no_tests),
		CHANNEL_TEST(the_source_has_the_tests_of_the_next_view),
		CHANNEL_TEST(a_file_that_left),
		CHANNEL_TEST(a_view_that_requires_nothing),
		CHANNEL_TEST(versions_that_end),
		CHANNEL_TEST(limits_and_filter),
		CHANNEL_TEST(counted_records_are_limited),
		CHANNEL_TEST(unknown_views),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
