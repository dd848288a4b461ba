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

// Jobs that record themselves, then wait at a gate. At it are two of them at most: the gate lets any of them through,
// so that an order beyond it would be the kernel's and not the pool's.
static struct {
	pthread_mutex_t gate;
	atomic_int inside, most_inside, begun, refused;
	char order[MOST];
} at;

static void go_through(void *job)
{
	int inside = atomic_fetch_add(&at.inside, 1) + 1;
	if (inside > atomic_load(&at.most_inside))
		atomic_store(&at.most_inside, inside);
	at.order[atomic_fetch_add(&at.begun, 1)] = *(const char *)job;
	pthread_mutex_lock(&at.gate);
	pthread_mutex_unlock(&at.gate);
	atomic_fetch_sub(&at.inside, 1);
}

static struct worker_pools *begin_with(unsigned searches, const struct share_options *places)
{
	memset(&at, 0, sizeof(at));
	pthread_mutex_init(&at.gate, NULL);
	pthread_mutex_lock(&at.gate);
	return worker_pools_new("test", searches, places);
}

static struct worker_pools *begin_many(unsigned searches)
{
	return begin_with(searches, NULL);
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

static void go_away(void *job)
{
	(void)job;
	atomic_fetch_add(&at.refused, 1);
}

static bool submit_as(struct worker_pool *pool, const char *peer, const char *token, thread_pool_fn *run, void *ctx)
{
	return worker_pool_submit(pool,
		&(struct worker_job){.run = run, .refuse = go_away, .ctx = ctx, .peer = peer, .token = token});
}

static bool submit(struct worker_pool *pool, const char *peer, thread_pool_fn *run, void *ctx)
{
	return submit_as(pool, peer, NULL, run, ctx);
}

static void searches_run_in_turns_by_address(void **state UNUSED)
{
	struct worker_pools *l = begin();
	struct worker_pool *pool = worker_pools_pick(l, WORKER_POOL_SEARCHES);
	static char a[] = "a", b[] = "b", c[] = "c";
	for (int i = 0; i < 9; i++)
		assert_true(submit(pool, "192.0.2.1", go_through, a));
	assert_true(submit(pool, "192.0.2.2", go_through, b));
	assert_true(submit(pool, "192.0.2.2", go_through, b));
	assert_true(submit(pool, "192.0.2.3", go_through, c));
	end(l);
	assert_in_range(at.most_inside, 1, 2); // one more for those within their share
	assert_int_equal(strlen(at.order), 12);
	assert_in_range(strchr(at.order, 'b') - at.order, 0, 4);
	assert_in_range(strchr(at.order, 'c') - at.order, 0, 4);
	assert_in_range(strrchr(at.order, 'b') - at.order, 1, 7);
}

static void stand_still(void *job)
{
	while (!atomic_load((atomic_bool *)job))
		usleep(1000);
}

// Others than 192.0.2.2 have all that they can get, and it begins at once.
static void begin_beside(struct worker_pools *l, atomic_bool *is_over)
{
	static char b[] = "b";
	struct worker_pool *pool = worker_pools_pick(l, WORKER_POOL_SEARCHES);
	pthread_mutex_unlock(&at.gate);
	assert_true(submit(pool, "192.0.2.2", go_through, b));
	for (int i = 0; i < 10000 && !atomic_load(&at.begun); i++)
		usleep(1000);
	assert_int_equal(atomic_load(&at.begun), 1);
	atomic_store(is_over, true);
	pthread_mutex_lock(&at.gate);
	end(l);
}

static void leave_a_thread_of(unsigned searches)
{
	struct worker_pools *l = begin_many(searches);
	atomic_bool is_over = false;
	for (int i = 0; i < 9; i++)
		assert_true(submit(worker_pools_pick(l, WORKER_POOL_SEARCHES), "192.0.2.1", stand_still, &is_over));
	begin_beside(l, &is_over);
}

// As with pages, and with promotions that take long.
static void an_address_leaves_a_thread_for_others(void **state UNUSED)
{
	leave_a_thread_of(2);
	leave_a_thread_of(4);
}

static void a_token_of_many_addresses_leaves_one_too(void **state UNUSED)
{
	struct worker_pools *l = begin_many(2);
	atomic_bool is_over = false;
	char peer[16] = "192.0.3.0";
	for (peer[8] = '0'; peer[8] <= '9'; peer[8]++)
		assert_true(submit_as(
			worker_pools_pick(l, WORKER_POOL_SEARCHES), peer, "greedy", stand_still, &is_over));
	begin_beside(l, &is_over);
}

// Of a proxy that is not trusted, or on a unix socket: what one token waits for is not before what another one wants.
static void tokens_of_one_address_take_turns(void **state UNUSED)
{
	struct worker_pools *l = begin();
	struct worker_pool *pool = worker_pools_pick(l, WORKER_POOL_SEARCHES);
	static char a[] = "a", b[] = "b";
	for (int i = 0; i < 20; i++)
		assert_true(submit_as(pool, "192.0.2.1", "greedy", go_through, a));
	assert_true(submit_as(pool, "192.0.2.1", "other", go_through, b));
	end(l);
	assert_int_equal(strlen(at.order), 21);
	assert_in_range(strchr(at.order, 'b') - at.order, 0, 3);
}

static void a_token_behind_a_unix_socket_leaves_a_thread(void **state UNUSED)
{
	static char b[] = "b";
	struct worker_pools *l = begin_many(4);
	struct worker_pool *pool = worker_pools_pick(l, WORKER_POOL_SEARCHES);
	atomic_bool is_over = false;
	for (int i = 0; i < 9; i++)
		assert_true(submit_as(pool, NULL, "greedy", stand_still, &is_over));
	pthread_mutex_unlock(&at.gate);
	assert_true(submit_as(pool, NULL, "other", go_through, b));
	for (int i = 0; i < 10000 && !atomic_load(&at.begun); i++)
		usleep(1000);
	assert_int_equal(atomic_load(&at.begun), 1);
	atomic_store(&is_over, true);
	pthread_mutex_lock(&at.gate);
	end(l);
}

static void alone_an_address_has_all_threads(void **state UNUSED)
{
	static char a[] = "a";
	struct worker_pools *l = begin_many(2);
	for (int i = 0; i < 9; i++)
		assert_true(submit(worker_pools_pick(l, WORKER_POOL_SEARCHES), "192.0.2.1", go_through, a));
	for (int i = 0; i < 10000 && atomic_load(&at.most_inside) < 2; i++)
		usleep(1000);
	end(l);
	assert_int_equal(at.most_inside, 2);
	assert_int_equal(at.begun, 9);
}

// Exceeds LIMIT_SEARCHES_WAITING: an address has all while nobody else waits; then a quarter.
static void waiting_jobs_are_shared(void **state UNUSED)
{
	struct worker_pools *l = begin();
	static char a[] = "a", b[] = "b", c[] = "c";
	struct worker_pool *pool = worker_pools_pick(l, WORKER_POOL_SUMMARIES);
	unsigned taken = 0, others = 0;
	for (int i = 0; i < MOST; i++)
		taken += submit(pool, "192.0.2.1", go_through, a);
	assert_in_range(taken, LIMIT_SEARCHES_WAITING, LIMIT_SEARCHES_WAITING + 1); // one has begun
	for (int i = 0; i < MOST; i++)
		others += submit(pool, "192.0.2.2", go_through, b);
	assert_in_range(others, LIMIT_SEARCHES_WAITING / 4, LIMIT_SEARCHES_WAITING / 4 + 1);
	assert_int_equal(at.refused, LIMIT_SEARCHES_WAITING / 4);
	assert_true(submit(pool, "192.0.2.3", go_through, c));
	assert_int_equal(at.refused, LIMIT_SEARCHES_WAITING / 4 + 1);
	assert_true(submit(worker_pools_pick(l, WORKER_POOL_SEARCHES), "192.0.2.1", go_through, a)); // that is another pool
	end(l);
	assert_int_equal(at.begun, taken + others + 2 - (unsigned)at.refused);
}

static void other_pools_refuse_nothing(void **state UNUSED)
{
	struct worker_pools *l = begin();
	static char a[] = "a";
	for (int i = 0; i < MOST; i++)
		assert_true(submit(worker_pools_pick(l, i % 2 ? 3 : 0), "192.0.2.1", go_through, a));
	assert_ptr_equal(worker_pools_pick(l, WORKER_POOL_COUNT + WORKER_POOLS),
		worker_pools_pick(l, (WORKER_POOL_COUNT + WORKER_POOLS) % WORKER_POOLS));
	end(l);
	assert_int_equal(at.begun, MOST);
}

// Eight uploads to one platform wait for the disk together, not four behind four.
static void bodies_wait_for_the_disk_together(void **state UNUSED)
{
	enum { UPLOADS = 8, PATIENT_MS = 60000 };
	struct worker_pools *l = begin_with(1, &(struct share_options){.most = UPLOADS});
	static char a[] = "a";
	for (int i = 0; i < UPLOADS; i++)
		assert_true(submit(worker_pools_pick(l, 0), "192.0.2.1", go_through, a));
	for (int i = 0; i < PATIENT_MS && atomic_load(&at.inside) < UPLOADS; i++)
		usleep(1000);
	assert_int_equal(atomic_load(&at.inside), UPLOADS);
	end(l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(searches_run_in_turns_by_address),
		cmocka_unit_test(an_address_leaves_a_thread_for_others),
		cmocka_unit_test(a_token_of_many_addresses_leaves_one_too),
		cmocka_unit_test(tokens_of_one_address_take_turns),
		cmocka_unit_test(a_token_behind_a_unix_socket_leaves_a_thread),
		cmocka_unit_test(alone_an_address_has_all_threads),
		cmocka_unit_test(waiting_jobs_are_shared),
		cmocka_unit_test(other_pools_refuse_nothing),
		cmocka_unit_test(bodies_wait_for_the_disk_together),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
