// SPDX-License-Identifier: Apache-2.0
// Work is deferred during a burst only, and not if too much is pending or the debounce is closed.
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>

#include "lib/base/mem.h"
#include "lib/os/clock.h"
#include "server/upstream/debounce.h"

enum {
	MOST = 4,
	SHORT_MS = 60,
	LONG_MS = 1000,
	BURST = 10,
	APART_MS = 20,
	NEVER_MS = 3600 * 1000
}; // a pause of NEVER_MS makes the test hang

struct fixture {
	struct debounce debounce;
	pthread_t other;
	int64_t last_ms;     // when come_for_a_while added the last one
	atomic_bool is_over; // come_on ends
};

static void pause_for(long ms)
{
	nanosleep(&(struct timespec){.tv_nsec = ms * 1000000}, NULL);
}

static int begin(void **state, int64_t pause_ms)
{
	struct fixture *f = xcalloc(1, sizeof(*f));
	debounce_init(&f->debounce, pause_ms, MOST);
	*state = f;
	return 0;
}

static int begin_short(void **state)
{
	return begin(state, SHORT_MS);
}

static int begin_long(void **state)
{
	return begin(state, LONG_MS);
}

static int begin_never(void **state)
{
	return begin(state, NEVER_MS);
}

static int end(void **state)
{
	struct fixture *f = *state;
	debounce_destroy(&f->debounce);
	free(f);
	return 0;
}

// Adds one piece of work, and runs fn in another thread.
static void start(struct fixture *f, void *(*fn)(void *))
{
	debounce_add(&f->debounce, 1);
	assert_int_equal(pthread_create(&f->other, NULL, fn, f), 0);
}

static void waits_until_the_burst_is_over(void **state)
{
	struct fixture *f = *state;
	debounce_wait(&f->debounce); // nothing was ever added
	int64_t came = clock_ms();
	debounce_add(&f->debounce, 1);
	debounce_wait(&f->debounce);
	assert_true(clock_ms() - came >= SHORT_MS);
	debounce_wait(&f->debounce); // no burst, until something is added
}

static void *come_for_a_while(void *ctx)
{
	struct fixture *f = ctx;
	for (int i = 0; i < BURST; i++) {
		pause_for(APART_MS);
		debounce_remove(&f->debounce, 1); // work that is done does not count
		f->last_ms = clock_ms();
		debounce_add(&f->debounce, 1);
	}
	return NULL;
}

// Each addition restarts the pause, which is long, because a busy machine that stalls for a pause ends the burst.
static void begins_again(void **state)
{
	struct fixture *f = *state;
	start(f, come_for_a_while);
	debounce_wait(&f->debounce);
	int64_t now = clock_ms();
	pthread_join(f->other, NULL);
	assert_true(now - f->last_ms >= LONG_MS);
}

static void *come_on(void *ctx)
{
	struct fixture *f = ctx;
	for (; !atomic_load(&f->is_over); pause_for(1))
		debounce_add(&f->debounce, 0);
	return NULL;
}

static void burst_without_end_does_not_hold_it_up(void **state)
{
	struct fixture *f = *state;
	start(f, come_on);
	debounce_wait(&f->debounce);
	atomic_store(&f->is_over, true);
	pthread_join(f->other, NULL);
}

static void too_much_does_not_wait(void **state)
{
	struct fixture *f = *state;
	debounce_add(&f->debounce, 1);
	debounce_add(&f->debounce, MOST - 1);
	debounce_wait(&f->debounce);
	debounce_remove(&f->debounce, MOST);
	assert_int_equal(f->debounce.pending, 0);
}

static void *wait(void *ctx)
{
	struct fixture *f = ctx;
	debounce_wait(&f->debounce);
	return NULL;
}

// A thread that waits already returns too.
static void too_much_wakes(void **state)
{
	struct fixture *f = *state;
	start(f, wait);
	pause_for(APART_MS);
	debounce_add(&f->debounce, MOST);
	pthread_join(f->other, NULL);
}

static void closing_wakes(void **state)
{
	struct fixture *f = *state;
	start(f, wait);
	pause_for(APART_MS);
	debounce_close(&f->debounce);
	pthread_join(f->other, NULL);
	debounce_wait(&f->debounce);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(waits_until_the_burst_is_over, begin_short, end),
		cmocka_unit_test_setup_teardown(begins_again, begin_long, end),
		cmocka_unit_test_setup_teardown(burst_without_end_does_not_hold_it_up, begin_short, end),
		cmocka_unit_test_setup_teardown(too_much_does_not_wait, begin_never, end),
		cmocka_unit_test_setup_teardown(too_much_wakes, begin_never, end),
		cmocka_unit_test_setup_teardown(closing_wakes, begin_never, end),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
