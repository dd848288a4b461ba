// SPDX-License-Identifier: Apache-2.0
#include "server/http/worker-pools.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "lib/base/limits.h"
#include "lib/base/mem.h"

enum { MOST = 2 * LIMIT_SEARCHES_WAITING };

// Jobs that wait at a gate and record which of them passed it.
static struct {
	pthread_mutex_t gate;
	atomic_int inside, most_inside, begun;
	char order[MOST];
} at;

static void go_through(void *job)
{
	int inside = atomic_fetch_add(&at.inside, 1) + 1;
	if (inside > atomic_load(&at.most_inside))
		atomic_store(&at.most_inside, inside);
	pthread_mutex_lock(&at.gate);
	at.order[atomic_fetch_add(&at.begun, 1)] = *(const char *)job;
	pthread_mutex_unlock(&at.gate);
	atomic_fetch_sub(&at.inside, 1);
}

static struct worker_pools *begin_many(unsigned searches)
{
	memset(&at, 0, sizeof(at));
	pthread_mutex_init(&at.gate, NULL);
	pthread_mutex_lock(&at.gate);
	return worker_pools_new("test", searches, NULL);
}

static struct worker_pools *begin(void)
{
	return begin_many(1);
}

static void end(struct worker_pools *l)
{
	pthread_mutex_unlock(&at.gate);
	worker_pools_free(l);
	pthread_mutex_destroy(&at.gate);
}

static void searches_run_one_at_a_time_in_turns_by_address(void **state UNUSED)
{
	struct worker_pools *l = begin();
	struct worker_pool *pool = worker_pools_pick(l, WORKER_POOL_SEARCHES);
	static char a[] = "a", b[] = "b", c[] = "c";
	for (int i = 0; i < 9; i++)
		assert_true(worker_pool_submit(pool, "192.0.2.1", go_through, a));
	assert_true(worker_pool_submit(pool, "192.0.2.2", go_through, b));
	assert_true(worker_pool_submit(pool, "192.0.2.2", go_through, b));
	assert_true(worker_pool_submit(pool, "192.0.2.3", go_through, c));
	end(l);
	assert_int_equal(at.most_inside, 1);
	assert_int_equal(strlen(at.order), 12);
	assert_in_range(strchr(at.order, 'b') - at.order, 1, 3);
	assert_in_range(strchr(at.order, 'c') - at.order, 1, 3);
	assert_in_range(strrchr(at.order, 'b') - at.order, 3, 5);
}

static void stand_still(void *job)
{
	while (!atomic_load((atomic_bool *)job))
		usleep(1000);
}

static void leave_a_thread_of(unsigned searches)
{
	struct worker_pools *l = begin_many(searches);
	struct worker_pool *pool = worker_pools_pick(l, WORKER_POOL_SEARCHES);
	static char b[] = "b";
	atomic_bool is_over = false;
	for (int i = 0; i < 9; i++)
		assert_true(worker_pool_submit(pool, "192.0.2.1", stand_still, &is_over));
	pthread_mutex_unlock(&at.gate);
	assert_true(worker_pool_submit(pool, "192.0.2.2", go_through, b));
	for (int i = 0; i < 10000 && !atomic_load(&at.begun); i++)
		usleep(1000);
	assert_int_equal(atomic_load(&at.begun), 1);
	atomic_store(&is_over, true);
	pthread_mutex_lock(&at.gate);
	end(l);
}

// As with pages, and with promotions that take long.
static void an_address_leaves_a_thread_for_others(void **state UNUSED)
{
	leave_a_thread_of(2);
	leave_a_thread_of(4);
}

// Exceeds LIMIT_SEARCHES_WAITING.
static void waiting_jobs_are_limited(void **state UNUSED)
{
	struct worker_pools *l = begin();
	static char a[] = "a", b[] = "b";
	struct worker_pool *pool = worker_pools_pick(l, WORKER_POOL_SUMMARIES);
	unsigned taken = 0, others = 0;
	for (int i = 0; i < MOST; i++)
		taken += worker_pool_submit(pool, "192.0.2.1", go_through, a);
	assert_in_range(taken, LIMIT_SEARCHES_WAITING / 2, LIMIT_SEARCHES_WAITING - 1);
	for (int i = 0; i < MOST; i++)
		others += worker_pool_submit(pool, "192.0.2.2", go_through, b);
	assert_in_range(others, 1, LIMIT_SEARCHES_WAITING / 2);
	assert_true(worker_pool_submit(worker_pools_pick(l, WORKER_POOL_SEARCHES), "192.0.2.1", go_through,
		a)); // that is another pool
	end(l);
	assert_int_equal(at.begun, taken + others + 1);
	assert_int_equal(at.order[1] == 'b' || at.order[2] == 'b' || at.order[3] == 'b', true);
}

static void other_pools_refuse_nothing(void **state UNUSED)
{
	struct worker_pools *l = begin();
	static char a[] = "a";
	for (int i = 0; i < MOST; i++)
		assert_true(worker_pool_submit(worker_pools_pick(l, i % 2 ? 3 : 0), "192.0.2.1", go_through, a));
	assert_ptr_equal(worker_pools_pick(l, WORKER_POOL_COUNT + WORKER_POOLS),
		worker_pools_pick(l, (WORKER_POOL_COUNT + WORKER_POOLS) % WORKER_POOLS));
	end(l);
	assert_int_equal(at.begun, MOST);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(searches_run_one_at_a_time_in_turns_by_address),
		cmocka_unit_test(an_address_leaves_a_thread_for_others),
		cmocka_unit_test(waiting_jobs_are_limited),
		cmocka_unit_test(other_pools_refuse_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
