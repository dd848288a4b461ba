// SPDX-License-Identifier: Apache-2.0
#include "server/message/share.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "lib/base/mem.h"

enum { MOST = 8, SHARE = 2, PARTS = 32 };

struct item {
	struct share_part part;
	atomic_long idle_since;
	bool is_ended;
};

struct fixture {
	struct share_pool *pool;
	struct item item[PARTS];
	unsigned count;
};

static void on_end(void *owner)
{
	((struct item *)owner)->is_ended = true;
}

static struct fixture make(struct share_options options)
{
	options.end = on_end;
	return (struct fixture){.pool = share_pool_new(&options)};
}

static void release(struct fixture *f)
{
	for (unsigned i = 0; i < f->count; i++)
		share_give(f->pool, &f->item[i].part);
	share_pool_free(f->pool);
}

// NULL: refused. idle_since 0: busy.
static struct item *take(struct fixture *f, const char *peer, const char *token, uint64_t amount, long idle_since)
{
	struct item *one = &f->item[f->count++];
	assert_true(f->count <= PARTS);
	atomic_store(&one->idle_since, idle_since);
	one->part.owner = one;
	one->part.idle_since = &one->idle_since;
	return share_take(f->pool, &one->part, peer, token, amount) ? one : NULL;
}

static void alone_one_has_all(void **state UNUSED)
{
	CLEANUP(release) struct fixture f = make((struct share_options){.most = MOST});
	for (int i = 0; i < MOST; i++)
		assert_non_null(take(&f, "192.0.2.1", NULL, 1, 10 + i));
	assert_null(take(&f, "192.0.2.1", NULL, 1, 30));
	for (int i = 0; i < MOST; i++)
		assert_false(f.item[i].is_ended);
}

static void others_get_their_share_back(void **state UNUSED)
{
	CLEANUP(release) struct fixture f = make((struct share_options){.most = MOST});
	for (int i = 0; i < MOST; i++)
		assert_non_null(take(&f, "192.0.2.1", NULL, 1, i == 0 ? 0 : 50 - i));
	assert_non_null(take(&f, "192.0.2.2", NULL, 1, 60));
	assert_true(f.item[MOST - 1].is_ended); // idle for the longest time; the first is busy
	assert_non_null(take(&f, "192.0.2.2", NULL, 1, 60));
	assert_true(f.item[MOST - 2].is_ended);
	assert_null(take(&f, "192.0.2.2", NULL, 1, 60)); // beyond its share
	assert_null(take(&f, "192.0.2.1", NULL, 1, 60));
	assert_false(f.item[MOST - 3].is_ended);
	for (int i = 3; i <= 4; i++) {
		char peer[24];
		snprintf(peer, sizeof(peer), "192.0.2.%d", i);
		for (int k = 0; k < SHARE; k++)
			assert_non_null(take(&f, peer, NULL, 1, 60));
	}
	assert_null(take(&f, "192.0.2.5", NULL, 1, 60)); // nobody is beyond its share now
	assert_false(f.item[0].is_ended);
}

static void token_is_a_holder_as_well(void **state UNUSED)
{
	CLEANUP(release) struct fixture f = make((struct share_options){.most = MOST});
	for (int i = 0; i < MOST; i++) {
		char peer[24];
		snprintf(peer, sizeof(peer), "192.0.2.%d", i);
		assert_non_null(take(&f, peer, "greedy", 1, 10 + i));
	}
	assert_null(take(&f, "198.51.100.1", "greedy", 1, 30));
	assert_non_null(take(&f, "198.51.100.1", "modest", 1, 30));
	assert_true(f.item[0].is_ended);
}

static void network_is_one_address_and_a_proxy_none(void **state UNUSED)
{
	CLEANUP(release) struct fixture f = make((struct share_options){.most = MOST});
	for (int i = 0; i < SHARE; i++)
		assert_non_null(take(&f, "2001:db8::1", NULL, 1, 10));
	for (int i = SHARE; i < MOST; i++)
		assert_non_null(take(&f, "unix", NULL, 1, 10));
	assert_null(take(&f, "2001:db8::ffff", NULL, 1, 20));
	assert_null(take(&f, "2001:db8:1::1", NULL, 1, 20)); // nobody is beyond its share
}

static void busy_and_kept_parts_stay(void **state UNUSED)
{
	CLEANUP(release) struct fixture f = make((struct share_options){.most = MOST});
	for (int i = 0; i < MOST; i++)
		assert_non_null(take(&f, "192.0.2.1", NULL, 1, i < MOST - 1 ? 0 : 10));
	share_keep(f.pool, &f.item[MOST - 1].part);
	assert_null(take(&f, "192.0.2.2", NULL, 1, 20));
	share_give(f.pool, &f.item[0].part);
	assert_non_null(take(&f, "192.0.2.2", NULL, 1, 20));
}

static void part_that_was_taken_back_grows_no_more(void **state UNUSED)
{
	CLEANUP(release) struct fixture f = make((struct share_options){.most = MOST});
	struct item *large = take(&f, "192.0.2.1", NULL, MOST, 10), *other = take(&f, "192.0.2.2", NULL, SHARE, 20);
	assert_non_null(other);
	assert_true(large->is_ended);
	assert_false(share_take(f.pool, &large->part, "192.0.2.1", NULL, 1));
	assert_true(share_take(f.pool, &other->part, "192.0.2.2", NULL, MOST - SHARE)); // alone
	assert_false(share_take(f.pool, &other->part, "192.0.2.2", NULL, 1));
}

static void pool_that_renews_gives_the_oldest(void **state UNUSED)
{
	CLEANUP(release) struct fixture f = make((struct share_options){.most = MOST, .renews = true});
	for (int i = 0; i < MOST; i++)
		assert_non_null(take(&f, "192.0.2.1", NULL, 1, 10 + i));
	assert_non_null(take(&f, "192.0.2.1", NULL, 1, 30));
	assert_true(f.item[0].is_ended);
	assert_false(f.item[1].is_ended);
}

static void strict_share_holds_always(void **state UNUSED)
{
	CLEANUP(release) struct fixture f = make((struct share_options){.most = MOST, .is_strict = true});
	assert_non_null(take(&f, "192.0.2.1", NULL, SHARE, 0));
	assert_true(share_is_used_up(f.pool, "192.0.2.1"));
	assert_false(share_is_used_up(f.pool, "192.0.2.2"));
	assert_false(share_is_used_up(f.pool, "unix"));
	assert_null(take(&f, "192.0.2.1", NULL, 1, 0));
	assert_non_null(take(&f, "192.0.2.2", NULL, SHARE + 1, 0)); // a single part
	assert_null(take(&f, "192.0.2.2", NULL, 1, 0));
}

static void only_part_may_grow_beyond_a_strict_share(void **state UNUSED)
{
	CLEANUP(release) struct fixture f = make((struct share_options){.most = MOST, .is_strict = true});
	struct item *one = take(&f, "192.0.2.1", NULL, 1, 0);
	assert_true(share_take(f.pool, &one->part, NULL, NULL, SHARE));
	assert_null(take(&f, "192.0.2.1", NULL, 1, 0));
	struct item *a = take(&f, "192.0.2.2", NULL, 1, 0);
	assert_false(share_is_beyond(f.pool, &a->part, SHARE - 1));
	assert_non_null(take(&f, "192.0.2.2", NULL, 1, 0));
	assert_true(share_is_beyond(f.pool, &a->part, 1));
	assert_false(share_take(f.pool, &a->part, NULL, NULL, 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(alone_one_has_all),
		cmocka_unit_test(others_get_their_share_back),
		cmocka_unit_test(token_is_a_holder_as_well),
		cmocka_unit_test(network_is_one_address_and_a_proxy_none),
		cmocka_unit_test(busy_and_kept_parts_stay),
		cmocka_unit_test(part_that_was_taken_back_grows_no_more),
		cmocka_unit_test(pool_that_renews_gives_the_oldest),
		cmocka_unit_test(strict_share_holds_always),
		cmocka_unit_test(only_part_may_grow_beyond_a_strict_share),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
