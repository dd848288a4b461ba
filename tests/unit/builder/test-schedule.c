// SPDX-License-Identifier: Apache-2.0
#include "builder/schedule.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { ROWS_MOST = 16 };

static struct machine machine = {.arch = "x86_64", .libc_major = 2, .libc_minor = 36};
static struct missing_environment environments[] = {
	{.platform = "p", .python = "3.11"}, {.platform = "p", .python = "3.12"}, {.platform = "p", .python = "3.13"}};

static void fixed_recipe(void *ctx UNUSED, const struct missing_row *row UNUSED, char out[SHA256_HEX + 1])
{
	snprintf(out, SHA256_HEX + 1, "recipe");
}

static const struct schedule_options plain = {.machine = &machine, .recipe = fixed_recipe};

static struct missing_row row_of(const char *python, const char *project, enum wheel_status status)
{
	return (struct missing_row){.platform = "p",
		.python = python,
		.project = project,
		.version = "1.0",
		.status = status,
		.why = "no wheel",
		.sdist = {.filename = "x-1.0.tar.gz", .url = "http://h/x-1.0.tar.gz"}};
}

static struct missing_row failed_row(const char *project, const char *result, const char *recipe)
{
	struct missing_row r = row_of("3.11", project, WHEEL_FAILED);
	r.attempts = (struct missing_attempts){.count = 1, .retry = 4000000000, .result = result, .recipe = recipe};
	return r;
}

static void make(struct schedule *s, const struct schedule_options *o, struct missing_row *rows, size_t count)
{
	struct err e = ERR_INIT;
	const struct missing m = {.environment = environments, .environments = 3, .row = rows, .rows = count};
	assert_int_equal(schedule_init(s, &m, o, &e), 0);
}

// Takes all rows that are ready, one after the other, as "PROJECT-PYTHON" with blanks between.
static void assert_order(struct schedule *s, const char *wanted)
{
	char text[512] = "";
	struct schedule_row *r;
	while ((r = schedule_next(s))) {
		size_t len = strlen(text);
		snprintf(text + len, sizeof(text) - len, "%s%s-%s", len ? " " : "", r->row->project, r->row->python);
		schedule_end(s, r, SCHEDULE_BAD, "it failed");
	}
	assert_string_equal(text, wanted);
}

static struct schedule_row *find(struct schedule *s, const char *python, const char *project)
{
	for (size_t i = 0; i < s->count; i++)
		if (strcmp(s->row[i].row->python, python) == 0 && strcmp(s->row[i].row->project, project) == 0)
			return &s->row[i];
	fail_msg("no row %s %s", python, project);
	return NULL;
}

// Tasks by name, the Pythons of each in the order of the environments; what failed before comes last.
static void test_order(void **state UNUSED)
{
	CLEANUP(schedule_release) struct schedule s;
	struct schedule_options o = plain;
	o.retry = SCHEDULE_RETRY_ALL;
	struct missing_row rows[] = {failed_row("alpha", "failed", "recipe"), row_of("3.13", "beta", WHEEL_MISSING),
		row_of("3.11", "beta", WHEEL_MISSING), row_of("3.12", "gamma", WHEEL_MISSING),
		row_of("3.12", "here", WHEEL_HERE)};
	make(&s, &o, rows, ARRAY_SIZE(rows));
	assert_order(&s, "beta-3.11 beta-3.13 gamma-3.12 alpha-3.11");
}

// What ended with its builder may do so again.
static void test_interrupted_rows_come_last(void **state UNUSED)
{
	CLEANUP(schedule_release) struct schedule s;
	CLEANUP(strset_release) struct strset interrupted = {0};
	struct schedule_options o = plain;
	o.retry = SCHEDULE_RETRY_ALL;
	o.interrupted = &interrupted;
	strset_add(&interrupted, "beta 1.0");
	strset_add(&interrupted, "gamma 2.0");
	strset_sort(&interrupted);
	struct missing_row rows[] = {failed_row("alpha", "failed", "recipe"), row_of("3.13", "beta", WHEEL_MISSING),
		row_of("3.11", "beta", WHEEL_MISSING), row_of("3.12", "gamma", WHEEL_MISSING)};
	make(&s, &o, rows, ARRAY_SIZE(rows));
	assert_order(&s, "gamma-3.12 alpha-3.11 beta-3.11 beta-3.13");
}

// Two tasks run at once; two Pythons of one task do not.
static void test_tasks_run_beside_each_other(void **state UNUSED)
{
	CLEANUP(schedule_release) struct schedule s;
	struct missing_row rows[] = {row_of("3.11", "one", WHEEL_MISSING), row_of("3.12", "one", WHEEL_MISSING),
		row_of("3.12", "two", WHEEL_MISSING)};
	make(&s, &plain, rows, ARRAY_SIZE(rows));
	struct schedule_row *first = schedule_next(&s), *second = schedule_next(&s);
	assert_string_equal(first->row->project, "one");
	assert_string_equal(second->row->project, "two");
	assert_null(schedule_next(&s));
	assert_true(schedule_is_running(&s));
	schedule_end(&s, first, SCHEDULE_BAD, NULL);
	assert_string_equal(schedule_next(&s)->row->python, "3.12");
}

struct judge_row {
	enum schedule_retry retry;
	const char *result, *recipe;
	enum schedule_state wanted;
};

static void test_failures_are_retried_as_asked(void **state UNUSED)
{
	static const struct judge_row table[] = {
		{SCHEDULE_RETRY_NONE, "failed", "recipe", SCHEDULE_LEFT_OUT},
		{SCHEDULE_RETRY_NONE, "failed", "another", SCHEDULE_READY},
		{SCHEDULE_RETRY_NONE, "failed", NULL, SCHEDULE_LEFT_OUT},
		{SCHEDULE_RETRY_FAILED, "failed", "recipe", SCHEDULE_READY},
		{SCHEDULE_RETRY_FAILED, "test-failed", "recipe", SCHEDULE_READY},
		{SCHEDULE_RETRY_FAILED, "timed-out", "recipe", SCHEDULE_LEFT_OUT},
		{SCHEDULE_RETRY_TIMED_OUT, "timed-out", "recipe", SCHEDULE_READY},
		{SCHEDULE_RETRY_TIMED_OUT, "failed", "recipe", SCHEDULE_LEFT_OUT},
		{SCHEDULE_RETRY_ALL, "timed-out", "recipe", SCHEDULE_READY},
	};
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		CLEANUP(arena_release) struct arena text = {0};
		struct schedule_options o = plain;
		const char *why;
		o.retry = table[i].retry;
		struct missing_row r = failed_row("alpha", table[i].result, table[i].recipe);
		if (schedule_judge(&o, &r, &text, &why) != table[i].wanted)
			fail_msg("row %zu: %s", i, why);
	}
}

static void test_options_leave_rows_out(void **state UNUSED)
{
	CLEANUP(schedule_release) struct schedule s;
	const char *const pythons[] = {"3.12"}, *const projects[] = {"one", "two"};
	struct schedule_options o = plain;
	o.python = pythons;
	o.pythons = 1;
	o.project = projects;
	o.projects = 2;
	struct missing_row rows[] = {row_of("3.11", "one", WHEEL_MISSING), row_of("3.12", "one", WHEEL_MISSING),
		row_of("3.12", "three", WHEEL_MISSING), row_of("3.12", "two", WHEEL_MISSING)};
	rows[3].sdist = (struct missing_sdist){0};
	make(&s, &o, rows, ARRAY_SIZE(rows));
	assert_string_equal(find(&s, "3.12", "two")->why, "no sdist is known");
	assert_order(&s, "one-3.12");
}

// Each project is in one of two shards.
static void test_shards(void **state UNUSED)
{
	static char name[ROWS_MOST][16];
	struct missing_row rows[ROWS_MOST];
	size_t taken = 0;
	for (size_t i = 0; i < ROWS_MOST; i++) {
		snprintf(name[i], sizeof(name[i]), "project-%zu", i);
		rows[i] = row_of("3.11", name[i], WHEEL_MISSING);
	}
	for (unsigned k = 1; k <= 2; k++) {
		CLEANUP(schedule_release) struct schedule s;
		struct schedule_options o = plain;
		size_t count[SCHEDULE_STATE_COUNT];
		o.shard = (struct missing_shard){k, 2};
		make(&s, &o, rows, ROWS_MOST);
		schedule_count(&s, count);
		assert_int_equal(count[SCHEDULE_READY] + count[SCHEDULE_LEFT_OUT], ROWS_MOST);
		assert_int_not_equal(count[SCHEDULE_READY], 0);
		taken += count[SCHEDULE_READY];
	}
	assert_int_equal(taken, ROWS_MOST);
}

struct cover_row {
	const char *wheel, *requires_python;
	size_t covered;
};

static void test_a_wheel_covers_other_pythons(void **state UNUSED)
{
	static const struct cover_row table[] = {
		{"one-1.0-cp311-abi3-linux_x86_64.whl", NULL, 2},
		{"one-1.0-py3-none-any.whl", ">=3.8", 2},
		{"one-1.0-py3-none-any.whl", "<3.13", 1},
		{"one-1.0-cp311-cp311-linux_x86_64.whl", NULL, 0},
		{"one-1.0-cp313-abi3-linux_x86_64.whl", NULL, 1},
		{"one-1.0-cp311-abi3-linux_aarch64.whl", NULL, 0},
	};
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		CLEANUP(schedule_release) struct schedule s;
		struct missing_row rows[] = {row_of("3.11", "one", WHEEL_MISSING),
			row_of("3.12", "one", WHEEL_MISSING), row_of("3.13", "one", WHEEL_MISSING),
			row_of("3.13", "two", WHEEL_MISSING)};
		make(&s, &plain, rows, ARRAY_SIZE(rows));
		struct schedule_row *r = schedule_next(&s);
		schedule_end(&s, r, SCHEDULE_GOOD, NULL);
		size_t covered = schedule_cover(&s, r, table[i].wheel, table[i].requires_python);
		if (covered != table[i].covered)
			fail_msg("%s: %zu", table[i].wheel, covered);
		assert_int_equal(find(&s, "3.13", "two")->state, SCHEDULE_READY);
	}
}

static void test_rows_wait_for_their_build_requirements(void **state UNUSED)
{
	CLEANUP(schedule_release) struct schedule s;
	CLEANUP(strset_release) struct strset missing = {0};
	struct missing_row rows[] = {row_of("3.11", "app", WHEEL_MISSING), row_of("3.11", "backend", WHEEL_MISSING),
		row_of("3.12", "backend", WHEEL_MISSING)};
	make(&s, &plain, rows, ARRAY_SIZE(rows));
	struct schedule_row *app = schedule_next(&s);
	schedule_missing(&s, "3.11", &missing);
	assert_true(strset_has(&missing, "backend"));
	assert_true(schedule_await(&s, app, "other backend"));
	struct schedule_row *backend = schedule_next(&s);
	assert_string_equal(backend->row->project, "backend");
	assert_null(schedule_next(&s));
	schedule_end(&s, backend, SCHEDULE_GOOD, NULL);
	assert_string_equal(schedule_next(&s)->row->python, "3.12");
	assert_ptr_equal(schedule_next(&s), app);
	assert_true(app->was_awaiting);
	assert_false(schedule_await(&s, app, "other backend")); // it is there
}

// What the list says awaits something, without a name, is tried again after each project that was built.
static void test_rows_that_await_something(void **state UNUSED)
{
	CLEANUP(schedule_release) struct schedule s;
	struct missing_row rows[] = {row_of("3.11", "app", WHEEL_AWAITING), row_of("3.11", "one", WHEEL_MISSING),
		row_of("3.12", "two", WHEEL_MISSING)};
	make(&s, &plain, rows, ARRAY_SIZE(rows));
	struct schedule_row *one = schedule_next(&s), *two = schedule_next(&s);
	schedule_end(&s, two, SCHEDULE_GOOD, NULL); // for another Python
	assert_null(schedule_next(&s));
	schedule_end(&s, one, SCHEDULE_ELSEWHERE, NULL);
	struct schedule_row *app = schedule_next(&s);
	assert_string_equal(app->row->project, "app");
	schedule_end(&s, app, SCHEDULE_AWAITING, "still");
	assert_null(schedule_next(&s));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_interrupted_rows_come_last),
		cmocka_unit_test(test_tasks_run_beside_each_other),
		cmocka_unit_test(test_failures_are_retried_as_asked),
		cmocka_unit_test(test_options_leave_rows_out),
		cmocka_unit_test(test_shards),
		cmocka_unit_test(test_a_wheel_covers_other_pythons),
		cmocka_unit_test(test_rows_wait_for_their_build_requirements),
		cmocka_unit_test(test_rows_that_await_something),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
