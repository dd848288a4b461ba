// SPDX-License-Identifier: Apache-2.0
#include "server/http/fair-queue.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lib/base/mem.h"

enum { MOST = 64, UNDER_WAY = 4, WAITING = 16 };

struct item {
	struct fair_queue_entry entry;
	char name;
};

// The entries that have begun, in order.
struct fixture {
	struct fair_queue *queue;
	struct item item[MOST];
	size_t items;
	char began[MOST + 1];
};

static void on_begin(void *ctx, struct fair_queue_entry *t)
{
	struct fixture *f = ctx;
	size_t len = strlen(f->began);
	f->began[len] = ((struct item *)(void *)t)->name;
	f->began[len + 1] = '\0';
}

static int begin(void **state)
{
	struct fixture *f = xcalloc(1, sizeof(*f));
	f->queue = fair_queue_new(&(struct fair_queue_options){
		.under_way = UNDER_WAY, .waiting = WAITING, .begin = on_begin, .ctx = f});
	*state = f;
	return 0;
}

static int end(void **state)
{
	struct fixture *f = *state;
	fair_queue_free(f->queue);
	free(f);
	return 0;
}

// NULL: the queue refused the entry.
static struct item *enter(struct fixture *f, char name, const char *peer, uint64_t weight)
{
	struct item *w = &f->item[f->items++];
	assert_true(f->items < MOST);
	w->name = name;
	return fair_queue_enter(f->queue, &w->entry, peer, NULL, weight) ? w : NULL;
}

static void end_entry(struct fixture *f, struct item *w)
{
	fair_queue_end(f->queue, &w->entry);
	fair_queue_run(f->queue);
}

static struct item *named(struct fixture *f, char name)
{
	size_t i = 0;
	while (f->item[i].name != name)
		i++;
	return &f->item[i];
}

// Ends all entries under way, until none is left.
static void end_all(struct fixture *f)
{
	for (size_t i = 0; f->began[i]; i++)
		end_entry(f, named(f, f->began[i]));
}

static void one_address_has_three_quarters(void **state)
{
	struct fixture *f = *state;
	struct fair_queue_counts counts;
	for (char name = 'a'; name < 'a' + 12; name++)
		assert_non_null(enter(f, name, "192.0.2.1", 0));
	assert_null(enter(f, '!', "192.0.2.1", 0));
	assert_null(enter(f, '!', "::ffff:192.0.2.1", 0)); // the same address
	fair_queue_run(f->queue);
	assert_string_equal(f->began, "abc");
	for (char name = 'A'; name < 'A' + 7; name++)
		assert_non_null(enter(f, name, name % 2 ? "192.0.2.2" : "192.0.2.3", 0));
	assert_null(enter(f, '!', "192.0.2.4", 0)); // the queue is full
	fair_queue_run(f->queue);
	assert_string_equal(f->began, "abcA");
	fair_queue_count(f->queue, &counts);
	assert_int_equal(counts.waiting, 15);
	assert_int_equal(counts.under_way, UNDER_WAY);
	end_all(f);
	assert_int_equal(strlen(f->began), 19);
	fair_queue_count(f->queue, &counts);
	assert_int_equal(counts.waiting + counts.under_way, 0);
}

static void turns_go_round(void **state)
{
	struct fixture *f = *state;
	for (char name = 'a'; name < 'a' + 10; name++)
		enter(f, name, "192.0.2.1", 0);
	fair_queue_run(f->queue);
	enter(f, 'A', "192.0.2.2", 0);
	enter(f, 'X', "192.0.2.3", 0);
	enter(f, 'B', "192.0.2.2", 0);
	fair_queue_run(f->queue);
	end_all(f);
	const char *order = f->began; // the first of each other address begins before two more of the crowd
	assert_true(strchr(order, 'A') - order <= 4);
	assert_true(strchr(order, 'X') - order <= 5);
	assert_true(strchr(order, 'B') - order <= 8);
	assert_int_equal(strlen(order), 13);
}

static void addresses_of_a_network_are_one(void **state)
{
	static const char *const peers[] = {"2001:db8::1", "2001:db8::2", "2001:db8:0:0:ffff::"};
	struct fixture *f = *state;
	for (size_t i = 0; i < 4; i++)
		enter(f, (char)('a' + i), peers[i % 3], 0);
	fair_queue_run(f->queue);
	assert_string_equal(f->began, "abc");
	enter(f, 'A', "2001:db8:0:1::1", 0);
	fair_queue_run(f->queue);
	assert_string_equal(f->began, "abcA");
}

// A proxy has many clients.
static void proxy_on_this_machine_may_have_all(void **state)
{
	struct fixture *f = *state;
	for (char name = 'a'; name < 'a' + WAITING; name++)
		assert_non_null(enter(f, name, name % 2 ? "unix" : NULL, 0));
	fair_queue_run(f->queue);
	assert_string_equal(f->began, "abcd");
}

static void who_joins_brings_his_own_place(void **state)
{
	struct fixture *f = *state;
	for (char name = 'a'; name < 'a' + 10; name++)
		enter(f, name, "192.0.2.1", 0);
	fair_queue_run(f->queue);
	enter(f, 'x', "192.0.2.3", 0); // takes the fourth place
	fair_queue_run(f->queue);
	fair_queue_join(f->queue, &named(f, 'j')->entry, "192.0.2.2");
	fair_queue_join(f->queue, &named(f, 'a')->entry, "192.0.2.2"); // has begun
	end_entry(f, named(f, 'x'));
	assert_string_equal(f->began, "abcxj");
	end_all(f);
	assert_int_equal(strlen(f->began), 11);
}

static void entry_that_left_never_begins(void **state)
{
	struct fixture *f = *state;
	for (char name = 'a'; name < 'a' + 6; name++)
		enter(f, name, "192.0.2.1", 0);
	fair_queue_run(f->queue);
	assert_true(fair_queue_leave(f->queue, &named(f, 'd')->entry));
	assert_false(fair_queue_leave(f->queue, &named(f, 'd')->entry));
	assert_false(fair_queue_leave(f->queue, &named(f, 'a')->entry)); // it has begun
	fair_queue_end(f->queue, &named(f, 'd')->entry);
	end_all(f);
	assert_string_equal(f->began, "abcef");
}

static void weight_is_bounded(void **state)
{
	struct fixture *f = *state;
	fair_queue_limit(f->queue, 100);
	enter(f, 'a', "192.0.2.1", 50);
	enter(f, 'b', "192.0.2.1", 30); // more than three quarters for one address
	enter(f, 'A', "192.0.2.2", 40);
	enter(f, 'B', "192.0.2.3", 20);
	fair_queue_run(f->queue);
	assert_string_equal(f->began, "aA");
	end_entry(f, named(f, 'a'));
	assert_string_equal(f->began, "aABb");
	enter(f, 'H', "192.0.2.4", 1000); // alone
	end_all(f);
	assert_string_equal(f->began, "aABbH");
}

// Light entries keep coming, each before the previous one has ended.
static void heavy_entry_begins_in_the_end(void **state)
{
	struct fixture *f = *state;
	struct item *light[2] = {&f->item[0], &f->item[MOST - 1]};
	assert_ptr_equal(enter(f, 'a', "192.0.2.1", 10), light[0]);
	fair_queue_limit(f->queue, 100);
	fair_queue_run(f->queue);
	enter(f, 'H', "192.0.2.2", 100);
	size_t i = 0;
	for (; light[i % 2]->entry.has_begun && i < 1000; i++) {
		f->began[0] = '\0';
		light[1 - i % 2]->name = 'a';
		assert_true(fair_queue_enter(f->queue, &light[1 - i % 2]->entry, "192.0.2.3", NULL, 10));
		fair_queue_run(f->queue);
		end_entry(f, light[i % 2]);
	}
	assert_in_range(i, 10, 999);
	assert_string_equal(f->began, "H");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(one_address_has_three_quarters),
		TEST(turns_go_round),
		TEST(addresses_of_a_network_are_one),
		TEST(proxy_on_this_machine_may_have_all),
		TEST(who_joins_brings_his_own_place),
		TEST(entry_that_left_never_begins),
		TEST(weight_is_bounded),
		TEST(heavy_entry_begins_in_the_end),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
