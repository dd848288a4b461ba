// SPDX-License-Identifier: Apache-2.0
#include "lib/base/lru.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/buf.h"
#include "lib/base/hash.h"

struct item {
	struct lru_entry entry;
	char key[16];
};

static struct item *add_item(struct lru *l, const char *key, size_t weight)
{
	struct item *i = xcalloc(1, sizeof(*i));
	memcpy(i->key, key, strlen(key));
	i->entry.key = str_from(i->key);
	i->entry.hash = hash_of(i->entry.key, 0);
	i->entry.weight = weight;
	lru_add(l, &i->entry);
	return i;
}

static struct lru_entry *find_item(const struct lru *l, const char *key)
{
	return lru_find(l, hash_of(str_from(key), 0), str_from(key));
}

static void free_all(struct lru *l)
{
	struct lru_entry *e;
	while ((e = lru_evict(l, 0)))
		free(e);
	assert_true(!l->oldest && !l->newest && l->weight == 0 && l->count == 0);
	lru_release(l);
}

// Fails unless the index has these keys, the least recently used one first, and their links agree in both directions.
static void check_order(const struct lru *l, const char *want)
{
	CLEANUP(buf_release) struct buf got;
	buf_init(&got, 1000);
	size_t weight = 0;
	const struct lru_entry *before = NULL;
	for (const struct lru_entry *e = l->oldest; e; before = e, e = e->newer) {
		assert_ptr_equal(e->older, before);
		buf_str(&got, e->key);
		weight += e->weight;
	}
	assert_ptr_equal(l->newest, before);
	assert_int_equal(l->weight, weight);
	assert_string_equal(got.len ? got.data : "", want);
}

static void test_uses_decide_the_order(void **state UNUSED)
{
	struct lru l = {0};
	check_order(&l, "");
	assert_null(find_item(&l, "a"));
	struct item *a = add_item(&l, "a", 1), *b = add_item(&l, "b", 1), *c = add_item(&l, "c", 1);
	check_order(&l, "abc");
	lru_touch(&l, &a->entry);
	check_order(&l, "bca");
	lru_touch(&l, &a->entry); // the newest stays where it is
	check_order(&l, "bca");
	lru_touch(&l, &c->entry);
	check_order(&l, "bac");
	assert_ptr_equal(find_item(&l, "b"), &b->entry); // no use
	check_order(&l, "bac");
	lru_remove(&l, &a->entry);
	free(a);
	check_order(&l, "bc");
	assert_null(find_item(&l, "a"));
	free_all(&l);
}

static void test_the_least_recently_used_goes_first(void **state UNUSED)
{
	struct lru l = {0};
	struct item *a = add_item(&l, "a", 10), *b = add_item(&l, "b", 20), *c = add_item(&l, "c", 30);
	assert_null(lru_evict(&l, 60));
	assert_ptr_equal(lru_evict(&l, 59), &a->entry);
	assert_null(lru_evict(&l, 50));
	lru_touch(&l, &b->entry);
	assert_ptr_equal(lru_evict(&l, 49), &c->entry);
	check_order(&l, "b");
	assert_ptr_equal(lru_evict(&l, 0), &b->entry);
	assert_null(lru_evict(&l, 0));
	assert_null(find_item(&l, "b"));
	free(a), free(b), free(c);
	lru_release(&l);
}

// Keys whose hashes are the same differ by their bytes, and any of a bucket can be removed.
static void test_keys_that_collide(void **state UNUSED)
{
	static const char *const keys[] = {"a", "b", "c"};
	struct lru l = {0};
	struct lru_entry entry[ARRAY_SIZE(keys)] = {0};
	for (size_t gone = 0; gone < ARRAY_SIZE(keys); gone++) {
		for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
			entry[i] = (struct lru_entry){.hash = 7, .key = str_from(keys[i]), .weight = 1};
			lru_add(&l, &entry[i]);
		}
		lru_remove(&l, &entry[gone]);
		for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
			assert_ptr_equal(lru_find(&l, 7, str_from(keys[i])), i == gone ? NULL : &entry[i]);
		while (lru_evict(&l, 0))
			;
	}
	lru_release(&l);
}

static size_t longest_bucket(const struct lru *l)
{
	size_t longest = 0;
	for (size_t i = 0; i < l->buckets; i++) {
		size_t here = 0;
		for (const struct lru_entry *e = l->bucket[i]; e; e = e->next)
			here++;
		longest = here > longest ? here : longest;
	}
	return longest;
}

// The buckets grow with the entries: of 100,000 in 1,024 buckets each look-up would compare about 100.
static void test_buckets_grow(void **state UNUSED)
{
	enum { MANY = 100000, LONGEST = 16 };
	struct lru l = {0};
	struct item *item = xcalloc(MANY, sizeof(*item));
	for (size_t i = 0; i < MANY; i++) {
		snprintf(item[i].key, sizeof(item[i].key), "%zu", i);
		item[i].entry.key = str_from(item[i].key);
		item[i].entry.hash = hash_of(item[i].entry.key, 0);
		item[i].entry.weight = 1;
		lru_add(&l, &item[i].entry);
	}
	assert_int_equal(l.count, MANY);
	assert_true(l.buckets >= MANY && longest_bucket(&l) <= LONGEST);
	while (lru_evict(&l, 0))
		;
	lru_release(&l);
	free(item);
}

// More entries than the first buckets.
static void test_many_entries(void **state UNUSED)
{
	enum { MANY = 4096 };
	char key[16];
	struct lru l = {0};
	for (int i = 0; i < MANY; i++) {
		snprintf(key, sizeof(key), "%d", i);
		add_item(&l, key, 1);
	}
	for (int i = 0; i < MANY; i += 2) {
		snprintf(key, sizeof(key), "%d", i);
		struct lru_entry *e = find_item(&l, key);
		assert_non_null(e);
		lru_remove(&l, e);
		free(e);
	}
	for (int i = 0; i < MANY; i++) {
		snprintf(key, sizeof(key), "%d", i);
		assert_true((find_item(&l, key) != NULL) == (i % 2 == 1));
	}
	assert_int_equal(l.weight, MANY / 2);
	free_all(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_uses_decide_the_order),
		cmocka_unit_test(test_the_least_recently_used_goes_first),
		cmocka_unit_test(test_keys_that_collide),
		cmocka_unit_test(test_many_entries),
		cmocka_unit_test(test_buckets_grow),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
