// SPDX-License-Identifier: Apache-2.0
#include "lib/os/throttle.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include <cmocka.h>

#include "lib/base/mem.h"

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void *take_four(void *throttle)
{
	for (int i = 0; i < 4; i++)
		throttle_account(throttle, 25000);
	return NULL;
}

// 200,000 bytes at 1,000,000 a second, by two threads.
static void threads_share_the_rate(void **state UNUSED)
{
	CLEANUP(throttle_cleanup) struct throttle *t = throttle_new(1000000);
	pthread_t other;
	double begin = now();
	assert_int_equal(pthread_create(&other, NULL, take_four, t), 0);
	take_four(t);
	pthread_join(other, NULL);
	double seconds = now() - begin;
	assert_true(seconds >= 0.19);
	assert_true(seconds < 60);
}

static void a_pause_earns_no_burst(void **state UNUSED)
{
	CLEANUP(throttle_cleanup) struct throttle *t = throttle_new(1000000);
	throttle_account(t, 1);
	nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
	double begin = now();
	throttle_account(t, 50000);
	assert_true(now() - begin >= 0.04);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(threads_share_the_rate),
		cmocka_unit_test(a_pause_earns_no_burst),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
