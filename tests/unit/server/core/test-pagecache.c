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

static struct page_key key_of(enum page_kind kind, const char *name)
{
	struct page_key key;
	page_key_make(&key, kind, NULL, PAGE_VALUES(PAGE_TEXT(str_from(name))));
	return key;
}

static void put_kind(struct pagecache *c, enum page_kind kind, const char *name, size_t size, unsigned seconds)
{
	const struct page_key key = key_of(kind, name);
	CLEANUP(reply_cleanup) struct reply *r = page(size);
	pagecache_put(c, &key, r, (int64_t)seconds * 1000, pagecache_epoch(c, &key, pagecache_cleared(c)));
}

static void put(struct pagecache *c, const char *name, size_t size, unsigned seconds)
{
	put_kind(c, PAGE_SIMPLE, name, size, seconds);
}

static bool has_kind(struct pagecache *c, enum page_kind kind, const char *name)
{
	const struct page_key key = key_of(kind, name);
	CLEANUP(reply_cleanup) struct reply *r = pagecache_get(c, &key);
	return r != NULL;
}

static bool has(struct pagecache *c, const char *name)
{
	return has_kind(c, PAGE_SIMPLE, name);
}

static void drop(struct pagecache *c, const char *name)
{
	const struct page_key key = key_of(PAGE_SIMPLE, name);
	pagecache_drop(c, &key);
}

static void test_keeps_and_drops(void **state UNUSED)
{
	struct pagecache *c = pagecache_new(LIMIT);
	assert_false(has(c, "a"));
	put(c, "a", 10, 0);
	put(c, "b", 10, 0);
	assert_true(has(c, "a"));
	drop(c, "a");
	assert_false(has(c, "a"));
	assert_true(has(c, "b"));
	put(c, "b", 20, 0); // replaces the other
	const struct page_key key = key_of(PAGE_SIMPLE, "b");
	struct reply *b = pagecache_get(c, &key);
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
	const struct page_key a = key_of(PAGE_SIMPLE, "a"), b = key_of(PAGE_SIMPLE, "b");
	uint64_t epoch = pagecache_epoch(c, &a, cleared), others = pagecache_epoch(c, &b, cleared);
	CLEANUP(reply_cleanup) struct reply *r = page(10);
	drop(c, "a"); // while the page was made
	pagecache_put(c, &a, r, 0, epoch);
	pagecache_put(c, &b, r, 0, others);
	assert_false(has(c, "a"));
	assert_true(has(c, "b"));
	pagecache_clear(c);
	pagecache_put(c, &b, r, 0, pagecache_epoch(c, &b, cleared)); // cleared was read before
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
			drop(c, key);
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

// Costly pages have a share of their own: they evict each other, and no page of the simple API, and the reverse.
static void test_costly_pages_evict_each_other(void **state UNUSED)
{
	struct pagecache *c = pagecache_new(LIMIT);
	char name[16];
	for (int i = 0; i < 40; i++) {
		snprintf(name, sizeof(name), "%d", i);
		put(c, name, 100, 0);
	}
	size_t cheap = pagecache_bytes(c);
	for (int i = 0; i < 200; i++) {
		snprintf(name, sizeof(name), "%d", i);
		put_kind(c, PAGE_COVERAGE, name, LIMIT / 8, 0);
		assert_true(pagecache_bytes(c) <= cheap + LIMIT / 4);
	}
	assert_true(has_kind(c, PAGE_COVERAGE, "199"));
	for (int i = 0; i < 40; i++) {
		snprintf(name, sizeof(name), "%d", i);
		assert_true(has(c, name));
	}
	for (int i = 0; i < 1000; i++) {
		snprintf(name, sizeof(name), "%d", i);
		put(c, name, 1000, 0);
		assert_true(pagecache_bytes(c) <= LIMIT);
	}
	assert_true(has_kind(c, PAGE_COVERAGE, "199"));
	pagecache_free(c);
}

static void test_a_key_that_is_none_keeps_nothing(void **state UNUSED)
{
	static char text[PAGE_KEY_SIZE];
	const struct str too_long = {text, sizeof(text)};
	struct pagecache *c = pagecache_new(LIMIT);
	struct page_key key;
	struct page_making making, other;
	page_key_make(&key, PAGE_HOME, NULL, PAGE_VALUES(PAGE_TEXT(too_long)));
	CLEANUP(reply_cleanup) struct reply *r = page(10);
	pagecache_put(c, &key, r, 0, pagecache_epoch(c, &key, pagecache_cleared(c)));
	assert_null(pagecache_get(c, &key));
	pagecache_make_begin(c, &making, &key);
	pagecache_make_begin(c, &other, &key); // waits for nobody
	pagecache_make_end(c, &making);
	pagecache_make_end(c, &other);
	pagecache_free(c);
}

// --- who waits for whom ---

struct maker {
	struct pagecache *cache;
	struct page_key key;
	_Atomic bool has_begun;
};

static void *make_page(void *ctx)
{
	struct maker *m = ctx;
	struct page_making making;
	pagecache_make_begin(m->cache, &making, &m->key);
	m->has_begun = true;
	pagecache_make_end(m->cache, &making);
	return NULL;
}

// While one page is made, only threads that want this page wait: of a thousand others, cheap and costly, none does.
// With 64 locks by a hash about 16 of them would.
static void test_only_the_same_page_is_waited_for(void **state UNUSED)
{
	static const enum page_kind kinds[] = {PAGE_SIMPLE, PAGE_COVERAGE};
	struct maker m = {.cache = pagecache_new(LIMIT)};
	const struct page_key held = key_of(PAGE_COVERAGE, "held");
	struct page_making making;
	pthread_t thread;
	char name[16];
	pagecache_make_begin(m.cache, &making, &held);
	for (int i = 0; i < 1000; i++) {
		snprintf(name, sizeof(name), "%d", i);
		m.key = key_of(kinds[i % 2], name);
		make_page(&m); // it would never end
	}
	m.key = held;
	m.has_begun = false;
	assert_int_equal(pthread_create(&thread, NULL, make_page, &m), 0);
	usleep(100 * 1000);
	assert_false(m.has_begun);
	pagecache_make_end(m.cache, &making);
	pthread_join(thread, NULL);
	assert_true(m.has_begun);
	pagecache_free(m.cache);
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
		cmocka_unit_test(test_costly_pages_evict_each_other),
		cmocka_unit_test(test_a_key_that_is_none_keeps_nothing),
		cmocka_unit_test(test_only_the_same_page_is_waited_for),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
