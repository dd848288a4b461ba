// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/support/attempts.h"

// --- lists ---

static void lists_are_filtered(void **state UNUSED)
{
	struct results_attempt other = attempts_make("b", RESULTS_OK, attempts_now - 10);
	other.platform = "ubuntu-22.04-x86_64";
	other.python = "3.10";
	other.version = "2.0";
	attempts_put("a", RESULTS_FAILED, attempts_now - 30);
	attempts_put("a", RESULTS_OK, attempts_now - 20);
	attempts_put_kept(&other, NULL, NULL);
	attempts_put("ab", RESULTS_TEST_FAILED, attempts_now - 5);
	attempts_put("ab", RESULTS_RUNNING, attempts_now - 4);
	ATTEMPTS_LIST("ab running;ab test-failed;b ok;a ok;a failed;", 0);
	ATTEMPTS_LIST("ab running;ab test-failed;", .limit = 2);
	ATTEMPTS_LIST("ab running;ab test-failed;b ok;", .since = attempts_now - 10);
	ATTEMPTS_LIST("a ok;a failed;", .project = "a");
	ATTEMPTS_LIST("ab running;ab test-failed;a ok;a failed;", .project = "a*");
	ATTEMPTS_LIST("b ok;", .platform = "ubuntu-*");
	ATTEMPTS_LIST("b ok;", .python = "3.10");
	ATTEMPTS_LIST("b ok;", .version = "2.0");
	ATTEMPTS_LIST("a failed;", .result = "failed");
	ATTEMPTS_LIST("ab test-failed;", .only_failed = true); // of a the newest is good
	ATTEMPTS_LIST("ab running;", .only_running = true);
	ATTEMPTS_LIST("", .platforms = (const char *const[]){""}, .platform_count = 0);
	ATTEMPTS_LIST("b ok;", .platforms = (const char *const[]){"ubuntu-22.04-x86_64"}, .platform_count = 1);
}

static int refuse(void *ctx UNUSED, const struct results_attempt *a UNUSED, struct err *e)
{
	return err_set(e, ERR_INVALID, "enough");
}

static void callback_ends_a_list(void **state UNUSED)
{
	struct err e = ERR_INIT;
	attempts_put("a", RESULTS_OK, attempts_now);
	assert_int_equal(results_list(attempts, &(struct results_filter){0}, refuse, NULL, &e), -1);
	assert_string_equal(e.msg, "enough");
	ATTEMPTS_LIST("a ok;", 0);
}

// --- history ---

static void assert_history(unsigned failures, int64_t last, int64_t first_failed)
{
	struct err e = ERR_INIT;
	CLEANUP(results_history_release) struct results_history h;
	attempts_ok(results_history(attempts, "debian-12-x86_64", "3.11", "a", "1.0", &h, &e), &e);
	assert_int_equal(h.failures, failures);
	assert_int_equal(h.last, last);
	assert_int_equal(h.first_failed, first_failed);
}

static void history_counts_failures_since_the_last_good_one(void **state UNUSED)
{
	assert_history(0, 0, 0);
	attempts_put("a", RESULTS_FAILED, attempts_now - 100);
	assert_history(1, attempts_now - 100, attempts_now - 100);
	attempts_put("a", RESULTS_OK, attempts_now - 90);
	assert_history(0, attempts_now - 90, 0);
	attempts_put("a", RESULTS_FAILED, attempts_now - 80);
	attempts_put("a", RESULTS_INTERRUPTED, attempts_now - 75);
	attempts_put("a", RESULTS_TIMED_OUT, attempts_now - 70);
	attempts_put("a", RESULTS_RUNNING, attempts_now - 60);
	assert_history(2, attempts_now - 70, attempts_now - 80);
}

static void history_begins_anew_with_another_recipe(void **state UNUSED)
{
	struct err e = ERR_INIT;
	CLEANUP(results_history_release) struct results_history h;
	struct results_attempt a = attempts_make("a", RESULTS_FAILED, attempts_now - 10);
	attempts_put("a", RESULTS_FAILED, attempts_now - 20);
	a.recipe = "";
	a.awaiting = "cython";
	attempts_put_kept(&a, NULL, NULL);
	attempts_ok(results_history(attempts, "debian-12-x86_64", "3.11", "a", "1.0", &h, &e), &e);
	assert_int_equal(h.failures, 1);
	assert_int_equal(h.result, RESULTS_FAILED);
	assert_string_equal(h.recipe, "");
	assert_string_equal(h.step, "build");
	assert_string_equal(h.why, "gcc ended with 1");
	assert_string_equal(h.awaiting, "cython");
}

static void retry_times_follow_the_list_and_end(void **state UNUSED)
{
	char list[] = "1d 3d";
	struct config c = {.build_retries = 3, .build_retry_after = list};
	struct results_history h = {.last = 1000};
	static const int64_t expected[] = {1000, 1000 + ATTEMPTS_DAY / 2, 1000 + 5 * ATTEMPTS_DAY / 2,
		1000 + 5 * ATTEMPTS_DAY / 2, 0};
	for (h.failures = 0; h.failures < ARRAY_SIZE(expected); h.failures++)
		assert_int_equal(results_retry_time(&c, &h), expected[h.failures]);
}

// A timer at the same second of each night: the rows begin a few seconds later, one night more, the other less.
static void retries_fall_on_the_nights_that_the_list_names(void **state UNUSED)
{
	char list[] = "1d 3d 7d";
	const struct config c = {.build_retries = 3, .build_retry_after = list};
	static const unsigned wanted[] = {0, 1, 4, 11};
	struct results_history h = {0};
	size_t tried = 0;
	for (unsigned night = 0; night < 40; night++) {
		int64_t begun = night * (int64_t)ATTEMPTS_DAY + (night % 2 ? 3 : 40);
		int64_t retry = results_retry_time(&c, &h);
		if (h.failures && (!retry || retry > begun))
			continue;
		assert_true(tried < ARRAY_SIZE(wanted));
		assert_int_equal(night, wanted[tried++]);
		h.failures++;
		h.last = begun;
	}
	assert_int_equal(tried, ARRAY_SIZE(wanted));
}

static void pauses_of_hours_are_exact(void **state UNUSED)
{
	char list[] = "1s 23h";
	const struct config c = {.build_retries = 3, .build_retry_after = list};
	struct results_history h = {.failures = 1, .last = 1000};
	assert_int_equal(results_retry_time(&c, &h), 1001);
	h.failures = 2;
	assert_int_equal(results_retry_time(&c, &h), 1000 + 23 * 3600);
}

// --- numbers ---

static int add_day(void *ctx, int64_t day, uint64_t good, uint64_t failed, struct err *e UNUSED)
{
	buf_printf(ctx, "%lld %llu %llu;",
		(long long)((attempts_now / ATTEMPTS_DAY * ATTEMPTS_DAY - day) / ATTEMPTS_DAY),
		(unsigned long long)good, (unsigned long long)failed);
	return 0;
}

static void attempts_are_counted_by_day(void **state UNUSED)
{
	struct err e = ERR_INIT;
	CLEANUP(buf_release) struct buf out;
	buf_init(&out, 4096);
	attempts_put("a", RESULTS_FAILED, attempts_now - 2 * ATTEMPTS_DAY);
	attempts_put("b", RESULTS_OK, attempts_now - 2 * ATTEMPTS_DAY);
	attempts_put("b", RESULTS_OK, attempts_now);
	attempts_put("b", RESULTS_INTERRUPTED, attempts_now);
	attempts_put("b", RESULTS_OK, attempts_now - 70 * ATTEMPTS_DAY);
	attempts_ok(results_days(attempts, NULL, attempts_now, 60, add_day, &out, &e), &e);
	assert_string_equal(out.data, "2 1 1;0 1 0;");
	buf_clear(&out);
	attempts_ok(results_days(attempts, &(struct results_filter){.project = "a"}, attempts_now, 60, add_day, &out,
			    &e),
		&e);
	assert_string_equal(out.data, "2 0 1;");
}

static void totals_count_each_attempt_once_and_never_fall(void **state UNUSED)
{
	struct err e = ERR_INIT;
	uint64_t count[RESULTS_RESULT_COUNT];
	struct results_attempt a = attempts_make("a", RESULTS_RUNNING, attempts_now);
	attempts_put_kept(&a, NULL, NULL);
	a.result = RESULTS_OK;
	attempts_put_kept(&a, NULL, NULL);
	attempts_put_kept(&a, NULL, NULL);
	for (int i = 0; i < 5; i++) {
		a = attempts_make("a", RESULTS_CRASHED, attempts_now);
		attempts_put_kept(&a, NULL, "1d 1");
	}
	for (int i = 0; i < 2; i++) {
		attempts_ok(results_totals(attempts, i ? a.platform : NULL, count, &e), &e);
		assert_int_equal(count[RESULTS_OK], 1);
		assert_int_equal(count[RESULTS_CRASHED], 5);
	}
	attempts_ok(results_totals(attempts, "other", count, &e), &e);
	assert_int_equal(count[RESULTS_CRASHED], 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ATTEMPTS_CASE(lists_are_filtered),
		ATTEMPTS_CASE(callback_ends_a_list),
		ATTEMPTS_CASE(history_counts_failures_since_the_last_good_one),
		ATTEMPTS_CASE(history_begins_anew_with_another_recipe),
		ATTEMPTS_CASE(retry_times_follow_the_list_and_end),
		ATTEMPTS_CASE(retries_fall_on_the_nights_that_the_list_names),
		ATTEMPTS_CASE(pauses_of_hours_are_exact),
		ATTEMPTS_CASE(attempts_are_counted_by_day),
		ATTEMPTS_CASE(totals_count_each_attempt_once_and_never_fall),
	};
	return cmocka_run_group_tests(tests, attempts_make_folder, attempts_remove_folder);
}
