// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/buf.h"
#include "lib/os/clock.h"
#include "server/core/pagecache.h"

enum { LIMIT = 64 << 10 };

static struct reply *page(size_t size)
{
	struct buf body;
	buf_init(&body, size);
	memset(buf_reserve(&body, size), 'x', size);
	body.len = size;
	return reply_new(200, "text/html", blob_from_buf(&body));
}

static void put(struct pagecache *c, const char *key, size_t size, unsigned seconds)
{
	CLEANUP(reply_cleanup) struct reply *r = page(size);
	pagecache_put(c, str_from(key), r, seconds, pagecache_epoch(c, str_from(key), pagecache_cleared(c)));
}

static bool has(struct pagecache *c, const char *key)
{
	CLEANUP(reply_cleanup) struct reply *r = pagecache_get(c, str_from(key));
	return r != NULL;
}

static void test_keeps_and_drops(void **state UNUSED)
{
	struct pagecache *c = pagecache_new(LIMIT);
	assert_false(has(c, "a"));
	put(c, "a", 10, 0);
	put(c, "b", 10, 0);
	assert_true(has(c, "a"));
	pagecache_drop(c, STR("a"));
	assert_false(has(c, "a"));
	assert_true(has(c, "b"));
	put(c, "b", 20, 0); // replaces the other
	struct reply *b = pagecache_get(c, STR("b"));
	assert_int_equal(b->length, 20);
	pagecache_clear(c);
	assert_false(has(c, "b"));
	assert_int_equal(pagecache_bytes(c), 0);
	assert_int_equal(b->length, 20); // our reference is valid
	reply_unref(b);
	pagecache_free(c);
}

static void test_is_bounded(void **state UNUSED)
{
	struct pagecache *c = pagecache_new(LIMIT);
	char key[16];
	for (int i = 0; i < 1000; i++) {
		snprintf(key, sizeof(key), "%d", i);
		put(c, key, 1000, 0);
		assert_true(pagecache_bytes(c) <= LIMIT);
	}
	assert_true(has(c, "999"));
	assert_false(has(c, "0"));
	assert_true(pagecache_bytes(c) > LIMIT / 2);
	pagecache_free(c);
}

static void test_refuses_what_is_too_large(void **state UNUSED)
{
	struct pagecache *c = pagecache_new(LIMIT);
	put(c, "small", 10, 0);
	put(c, "large", LIMIT / 2, 0);
	assert_false(has(c, "large"));
	assert_true(has(c, "small"));
	pagecache_free(c);
}

static void test_refuses_what_is_out_of_date(void **state UNUSED)
{
	struct pagecache *c = pagecache_new(LIMIT);
	uint32_t cleared = pagecache_cleared(c);
	uint64_t epoch = pagecache_epoch(c, STR("a"), cleared), others = pagecache_epoch(c, STR("b"), cleared);
	CLEANUP(reply_cleanup) struct reply *r = page(10);
	pagecache_drop(c, STR("a")); // while the page was made
	pagecache_put(c, STR("a"), r, 0, epoch);
	pagecache_put(c, STR("b"), r, 0, others);
	assert_false(has(c, "a"));
	assert_true(has(c, "b"));
	pagecache_clear(c);
	pagecache_put(c, STR("b"), r, 0, pagecache_epoch(c, STR("b"), cleared)); // cleared was read before
	assert_false(has(c, "b"));
	pagecache_free(c);
}

static void test_passes_its_time(void **state UNUSED)
{
	struct pagecache *c = pagecache_new(LIMIT);
	long begun = clock_seconds();
	put(c, "short", 10, 1);
	put(c, "long", 10, 0);
	assert_true(has(c, "short") || clock_seconds() > begun);
	usleep(1100 * 1000);
	assert_false(has(c, "short"));
	size_t before = pagecache_bytes(c);
	pagecache_sweep(c);
	assert_true(pagecache_bytes(c) < before);
	assert_true(has(c, "long"));
	pagecache_free(c);
}

static void *churn(void *ctx)
{
	struct pagecache *c = ctx;
	for (int i = 0; i < 5000; i++) {
		char key[16];
		snprintf(key, sizeof(key), "%d", i % 97);
		if (i % 5 == 0)
			put(c, key, 500, 0);
		else if (i % 11 == 0)
			pagecache_drop(c, str_from(key));
		else
			has(c, key);
	}
	return NULL;
}

static void test_many_threads(void **state UNUSED)
{
	struct pagecache *c = pagecache_new(LIMIT);
	pthread_t thread[4];
	for (size_t i = 0; i < ARRAY_SIZE(thread); i++)
		assert_int_equal(pthread_create(&thread[i], NULL, churn, c), 0);
	for (size_t i = 0; i < ARRAY_SIZE(thread); i++)
		pthread_join(thread[i], NULL);
	assert_true(pagecache_bytes(c) <= LIMIT);
	pagecache_clear(c);
	assert_int_equal(pagecache_bytes(c), 0);
	pagecache_free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_keeps_and_drops),
		cmocka_unit_test(test_is_bounded),
		cmocka_unit_test(test_refuses_what_is_too_large),
		cmocka_unit_test(test_refuses_what_is_out_of_date),
		cmocka_unit_test(test_passes_its_time),
		cmocka_unit_test(test_many_threads),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
