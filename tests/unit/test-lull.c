// SPDX-License-Identifier: Apache-2.0
// What waits for a lull does so in a burst only, and not where too much is pending, or it is closed.
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lib/base/clock.h"
#include "server/lull.h"

enum { MOST = 4, SHORT_MS = 60, BURST = 10, APART_MS = 20, NEVER_MS = 3600 * 1000 }; // who waits for NEVER hangs

static void waits_until_the_burst_is_over(void **state)
{
	(void)state;
	struct lull l;
	lull_init(&l, SHORT_MS, MOST);
	lull_wait(&l); // nothing ever came
	int64_t came = clock_ms();
	lull_came(&l, 1);
	lull_wait(&l);
	assert_true(clock_ms() - came >= SHORT_MS);
	lull_wait(&l); // it lasts until something comes
	lull_destroy(&l);
}

struct burst {
	struct lull *lull;
	int64_t last_ms;
};

static void *come(void *ctx)
{
	struct burst *b = ctx;
	for (int i = 0; i < BURST; i++) {
		struct timespec apart = {.tv_nsec = APART_MS * 1000000};
		nanosleep(&apart, NULL);
		lull_done(b->lull, 1); // what is done is not too much
		b->last_ms = clock_ms();
		lull_came(b->lull, 1);
	}
	return NULL;
}

// The pause begins again with each that comes. (A machine that stands still for a pause ends the burst: so it is a long one.)
static void begins_again(void **state)
{
	(void)state;
	enum { PAUSE_MS = 1000 };
	struct lull l;
	struct burst b = {.lull = &l};
	pthread_t thread;
	lull_init(&l, PAUSE_MS, MOST);
	lull_came(&l, 1);
	assert_int_equal(pthread_create(&thread, NULL, come, &b), 0);
	lull_wait(&l);
	int64_t now = clock_ms();
	pthread_join(thread, NULL);
	assert_true(now - b.last_ms >= PAUSE_MS);
	lull_destroy(&l);
}

struct flood {
	struct lull *lull;
	atomic_bool is_over;
};

static void *come_on(void *ctx)
{
	struct flood *f = ctx;
	const struct timespec apart = {.tv_nsec = 1000000};
	while (!atomic_load(&f->is_over)) {
		lull_came(f->lull, 0);
		nanosleep(&apart, NULL);
	}
	return NULL;
}

static void burst_without_end_does_not_hold_it_up(void **state)
{
	(void)state;
	struct lull l;
	struct flood f = {.lull = &l};
	pthread_t thread;
	lull_init(&l, SHORT_MS, MOST);
	lull_came(&l, 1);
	assert_int_equal(pthread_create(&thread, NULL, come_on, &f), 0);
	lull_wait(&l);
	atomic_store(&f.is_over, true);
	pthread_join(thread, NULL);
	lull_destroy(&l);
}

static void too_much_does_not_wait(void **state)
{
	(void)state;
	struct lull l;
	lull_init(&l, NEVER_MS, MOST);
	lull_came(&l, 1);
	lull_came(&l, MOST - 1);
	lull_wait(&l);
	lull_done(&l, MOST);
	assert_int_equal(l.pending, 0);
	lull_destroy(&l);
}

static void *wait(void *l)
{
	lull_wait(l);
	return NULL;
}

// Also who waits already.
static void too_much_wakes(void **state)
{
	(void)state;
	struct lull l;
	pthread_t thread;
	lull_init(&l, NEVER_MS, MOST);
	lull_came(&l, 1);
	assert_int_equal(pthread_create(&thread, NULL, wait, &l), 0);
	struct timespec later = {.tv_nsec = APART_MS * 1000000};
	nanosleep(&later, NULL);
	lull_came(&l, MOST);
	pthread_join(thread, NULL);
	lull_destroy(&l);
}

static void closing_wakes(void **state)
{
	(void)state;
	struct lull l;
	pthread_t thread;
	lull_init(&l, NEVER_MS, MOST);
	lull_came(&l, 1);
	assert_int_equal(pthread_create(&thread, NULL, wait, &l), 0);
	struct timespec later = {.tv_nsec = APART_MS * 1000000};
	nanosleep(&later, NULL);
	lull_close(&l);
	pthread_join(thread, NULL);
	lull_wait(&l);
	lull_destroy(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(waits_until_the_burst_is_over),
		cmocka_unit_test(begins_again),
		cmocka_unit_test(burst_without_end_does_not_hold_it_up),
		cmocka_unit_test(too_much_does_not_wait),
		cmocka_unit_test(too_much_wakes),
		cmocka_unit_test(closing_wakes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
