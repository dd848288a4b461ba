// SPDX-License-Identifier: Apache-2.0
#include "lib/os/timer-thread.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <time.h>

#include <cmocka.h>

#include "lib/base/mem.h"
#include "lib/os/clock.h"

enum { LONG_MS = 3600000, PATIENCE_MS = 60000, SHORT_MS = 50 };

struct counted {
	struct timer_thread *timer;
	int64_t pause_ms;
	atomic_int calls;
	atomic_bool is_held; // the call under way does not return
};

static void pause_test(void)
{
	nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

static int64_t count_call(void *ctx)
{
	struct counted *c = ctx;
	atomic_fetch_add(&c->calls, 1);
	while (atomic_load(&c->is_held) && !timer_thread_is_stopping(c->timer))
		pause_test();
	return c->pause_ms;
}

static bool reaches(struct counted *c, int calls)
{
	for (int64_t end = clock_ms() + PATIENCE_MS; atomic_load(&c->calls) < calls && clock_ms() < end;)
		pause_test();
	return atomic_load(&c->calls) >= calls;
}

static void start(struct counted *c, int64_t first_ms)
{
	c->timer = timer_thread_new(count_call, c);
	timer_thread_start(c->timer, first_ms);
}

static void the_function_is_called_again_and_again(void **state UNUSED)
{
	struct counted c = {.pause_ms = SHORT_MS};
	int64_t begun = clock_ms();
	start(&c, SHORT_MS);
	assert_true(reaches(&c, 3));
	assert_true(clock_ms() - begun >= 3 * SHORT_MS - 2);
	timer_thread_free(c.timer);
}

static void a_stop_does_not_wait_for_the_pause(void **state UNUSED)
{
	struct counted c = {.pause_ms = LONG_MS};
	start(&c, 0);
	assert_true(reaches(&c, 1));
	timer_thread_stop(c.timer);
	timer_thread_stop(c.timer);
	timer_thread_wake(c.timer);
	assert_true(timer_thread_is_stopping(c.timer));
	assert_int_equal(atomic_load(&c.calls), 1);
	timer_thread_free(c.timer);
}

static void a_stop_before_the_first_call_prevents_it(void **state UNUSED)
{
	struct counted c = {.pause_ms = LONG_MS};
	start(&c, LONG_MS);
	timer_thread_free(c.timer);
	assert_int_equal(atomic_load(&c.calls), 0);
}

static void a_wake_ends_the_pause(void **state UNUSED)
{
	struct counted c = {.pause_ms = TIMER_THREAD_UNTIL_WOKEN};
	start(&c, LONG_MS);
	timer_thread_wake(c.timer);
	assert_true(reaches(&c, 1));
	timer_thread_wake(c.timer);
	assert_true(reaches(&c, 2));
	timer_thread_free(c.timer);
}

static void a_wake_during_a_call_means_one_more_call(void **state UNUSED)
{
	struct counted c = {.pause_ms = LONG_MS};
	atomic_store(&c.is_held, true);
	start(&c, 0);
	assert_true(reaches(&c, 1));
	timer_thread_wake(c.timer);
	timer_thread_wake(c.timer);
	atomic_store(&c.is_held, false);
	assert_true(reaches(&c, 2));
	timer_thread_free(c.timer);
	assert_int_equal(atomic_load(&c.calls), 2);
}

// A time that is later than the next call changes nothing.
static void the_earliest_time_counts(void **state UNUSED)
{
	struct counted c = {.pause_ms = TIMER_THREAD_UNTIL_WOKEN};
	int64_t begun = clock_ms();
	start(&c, LONG_MS);
	timer_thread_wake_by(c.timer, begun + SHORT_MS);
	timer_thread_wake_by(c.timer, begun + LONG_MS);
	assert_true(reaches(&c, 1));
	assert_true(clock_ms() - begun >= SHORT_MS);
	timer_thread_free(c.timer);
}

static void a_call_sees_the_request_to_stop(void **state UNUSED)
{
	struct counted c = {.pause_ms = 0};
	atomic_store(&c.is_held, true);
	start(&c, 0);
	assert_true(reaches(&c, 1));
	assert_false(timer_thread_is_stopping(c.timer));
	timer_thread_request_stop(c.timer);
	timer_thread_free(c.timer);
	assert_int_equal(atomic_load(&c.calls), 1);
}

static void one_that_was_not_started_is_freed(void **state UNUSED)
{
	struct counted c = {0};
	c.timer = timer_thread_new(count_call, &c);
	timer_thread_wake(c.timer);
	timer_thread_free(c.timer);
	timer_thread_free(NULL);
	assert_int_equal(atomic_load(&c.calls), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_function_is_called_again_and_again),
		cmocka_unit_test(a_stop_does_not_wait_for_the_pause),
		cmocka_unit_test(a_stop_before_the_first_call_prevents_it),
		cmocka_unit_test(a_wake_ends_the_pause),
		cmocka_unit_test(a_wake_during_a_call_means_one_more_call),
		cmocka_unit_test(the_earliest_time_counts),
		cmocka_unit_test(a_call_sees_the_request_to_stop),
		cmocka_unit_test(one_that_was_not_started_is_freed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
