// SPDX-License-Identifier: Apache-2.0
#include "lib/os/clock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "lib/base/mem.h"

static void test_times(void **state UNUSED)
{
	static const char *const bad[] = {"", "2026-11-21T17:00:00", "2026-11-21T17:00:00ZZ", "2026-11-21 17:00:00Z",
		"2026-02-29T00:00:00Z", "2026-1-01T00:00:00Z", " 2026-01-01T00:00:00Z", "2026-01-01T24:00:00Z",
		"1969-12-31T23:59:59Z", "99999-01-01T00:00:00Z", "2026-06-31T00:00:00Z", "2100-02-29T00:00:00Z",
		"2026-13-01T00:00:00Z", "2026-00-01T00:00:00Z", "2026-01-00T00:00:00Z", "2026-01-01T00:00:60Z"};
	char text[CLOCK_TEXT];
	int64_t seconds = 7;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		if (clock_read(bad[i], &seconds) || seconds != 7)
			fail_msg("%s", bad[i]);
	assert_true(clock_read("2026-11-21T17:00:01Z", &seconds));
	assert_int_equal(seconds, 1795280401);
	clock_write(seconds, text);
	assert_string_equal(text, "2026-11-21T17:00:01Z");
	clock_write(INT64_MAX, text);
	assert_string_equal(text, "9999-12-31T23:59:59Z");
}

static void test_a_date_is_its_last_second(void **state UNUSED)
{
	static const char *const bad[] = {
		"", "2026-11-2", "2026-11-31", "2026-11-021", "2026-11-2x", "20261121", "1969-12-31", "2026-11-21T"};
	int64_t seconds = 7;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		if (clock_read_end(bad[i], &seconds) || seconds != 7)
			fail_msg("%s", bad[i]);
	assert_true(clock_read_end("2026-11-21T17:00:01Z", &seconds));
	assert_int_equal(seconds, 1795280401);
	assert_true(clock_read_end("2026-11-20", &seconds));
	assert_int_equal(seconds, 1795219199);
}

static void test_a_date_of_http_is_read(void **state UNUSED)
{
	static const char *const bad[] = {"", "Sat, 21 Nov 2026 17:00:01", "Sat, 21 Nov 2026 17:00:01 GMT+1", "2026-11-21T17:00:01Z"};
	int64_t seconds = 7;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		if (clock_read_http(bad[i], &seconds) || seconds != 7)
			fail_msg("%s", bad[i]);
	assert_true(clock_read_http("Sat, 21 Nov 2026 17:00:01 GMT", &seconds));
	assert_int_equal(seconds, 1795280401);
}

static void test_a_time_is_read_as_it_was_written(void **state UNUSED)
{
	char text[CLOCK_TEXT];
	int64_t seconds, last = 253402300799, day = 86400;
	for (int64_t t = 0; t <= last; t += t < 300 * 366 * day ? day - 1 : 31 * day + 7) {
		clock_write(t, text);
		if (!clock_read(text, &seconds) || seconds != t)
			fail_msg("%s", text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_times),
		cmocka_unit_test(test_a_date_is_its_last_second),
		cmocka_unit_test(test_a_date_of_http_is_read),
		cmocka_unit_test(test_a_time_is_read_as_it_was_written),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
