// SPDX-License-Identifier: Apache-2.0
#include "server/core/page-key.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lib/base/mem.h"

enum { PLATFORMS = 11, VALUES = 3, REQUESTS = 40000, TEXT_MOST = 5 };

static struct platform platform[PLATFORMS];
static struct site sites[2] = {{.store = {.platform = platform, .platform_count = PLATFORMS}},
	{.store = {.platform = platform, .platform_count = PLATFORMS}}};

// What a key is made of. Each kind has types of its own for its values.
struct request {
	unsigned kind, site, readers, named; // a bit for each platform
	bool is_text[VALUES];
	uint64_t number[VALUES];
	char text[VALUES][TEXT_MOST];
	size_t len[VALUES];
	struct page_key key;
};

static uint64_t next_number(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return *state >> 33;
}

// Few values, and the bytes that a key in one text has between its parts, so that many requests are nearly the same.
static void make_request(struct request *r, uint64_t *state)
{
	static const char bytes[] = "/1:2\0,#";
	memset(r, 0, sizeof(*r));
	r->kind = (unsigned)next_number(state) % 3;
	r->site = (unsigned)next_number(state) % 2;
	for (unsigned left = (unsigned)next_number(state) % 3; left; left--)
		r->readers |= 1u << next_number(state) % PLATFORMS;
	r->named = next_number(state) % 2 ? 0 : 1u << next_number(state) % PLATFORMS;
	for (size_t i = 0; i < VALUES; i++) {
		r->is_text[i] = (r->kind + i) % 2;
		r->number[i] = r->is_text[i] ? 0 : next_number(state) % 2 ? next_number(state) % 3 : '/';
		r->len[i] = r->is_text[i] ? next_number(state) % TEXT_MOST : 0;
		for (size_t k = 0; k < r->len[i]; k++)
			r->text[i][k] = bytes[next_number(state) % (sizeof(bytes) - 1)];
	}
}

static void make_key(struct request *r)
{
	const struct platform *list[PLATFORMS], *named[PLATFORMS];
	struct page_readers readers = {.site = &sites[r->site], .platform = list, .named = named};
	struct page_value value[VALUES];
	for (size_t i = PLATFORMS; i-- > 0;) // their order does not count
		if (r->readers & 1u << i)
			list[readers.platforms++] = &platform[i];
	for (size_t i = 0; i < PLATFORMS; i++)
		if (r->named & 1u << i)
			named[readers.nameds++] = &platform[i];
	for (size_t i = 0; i < VALUES; i++)
		value[i] = (struct page_value){
			{r->text[i], r->len[i]}, .number = r->number[i], .is_text = r->is_text[i]};
	page_key_make(&r->key, (enum page_kind)r->kind, &readers, value, VALUES);
	assert_true(r->key.len > 0);
}

static int by_key(const void *a, const void *b)
{
	return str_cmp(page_key_view(&((const struct request *)a)->key), page_key_view(&((const struct request *)b)->key));
}

static bool is_same_request(const struct request *a, const struct request *b)
{
	return memcmp(a, b, offsetof(struct request, key)) == 0;
}

// Of random requests that differ in little, two share a key only if they are the same, and then they do.
static void test_only_equal_requests_share_a_key(void **state UNUSED)
{
	uint64_t random = 24;
	size_t equal = 0;
	struct request *all CLEANUP(mem_free) = xcalloc(REQUESTS, sizeof(*all));
	for (size_t i = 0; i < REQUESTS; i++) {
		make_request(&all[i], &random);
		make_key(&all[i]);
	}
	qsort(all, REQUESTS, sizeof(*all), by_key);
	for (size_t i = 1; i < REQUESTS; i++) {
		bool is_same_key = by_key(&all[i - 1], &all[i]) == 0;
		assert_int_equal(is_same_key, is_same_request(&all[i - 1], &all[i]));
		assert_true(!is_same_key || all[i - 1].key.hash == all[i].key.hash);
		equal += is_same_key;
	}
	assert_true(equal > 0 && equal < REQUESTS - 1);
}

// The keys of the project page at 148d088: what a token holder may read, and an anonymous client's text.
static void test_text_does_not_stand_for_a_right(void **state UNUSED)
{
	const struct platform *const both[] = {&platform[1], &platform[2]}, *const one[] = {&platform[2]};
	const struct page_readers holder = {.site = &sites[0], .platform = both, .platforms = ARRAY_SIZE(both)},
				  nobody = {.site = &sites[0], .platform = one, .platforms = ARRAY_SIZE(one)};
	struct page_key a, b;
	page_key_make(&a, PAGE_PROJECT, &holder, PAGE_VALUES(PAGE_TEXT(STR("demo")), PAGE_TEXT(STR(""))));
	page_key_make(&b, PAGE_PROJECT, &nobody, PAGE_VALUES(PAGE_TEXT(STR("demo")), PAGE_TEXT(STR("/1"))));
	assert_false(str_eq(page_key_view(&a), page_key_view(&b)));
	page_key_make(&b, PAGE_PROJECT, &nobody, PAGE_VALUES(PAGE_TEXT(STR("demo")), PAGE_TEXT(STR(""))));
	assert_false(str_eq(page_key_view(&a), page_key_view(&b)));
}

static void test_a_key_that_is_too_long_is_none(void **state UNUSED)
{
	enum { BEFORE = 5 * sizeof(uint64_t) }; // site, two sets of platforms, kind, and the length of the text
	static char text[PAGE_KEY_SIZE];
	const struct str longest = {text, sizeof(text) - BEFORE}, longer = {text, sizeof(text) - BEFORE + 1};
	struct page_key key;
	page_key_make(&key, PAGE_HOME, NULL, PAGE_VALUES(PAGE_TEXT(longest)));
	assert_int_equal(key.len, PAGE_KEY_SIZE);
	page_key_make(&key, PAGE_HOME, NULL, PAGE_VALUES(PAGE_TEXT(longer)));
	assert_int_equal(key.len, 0);
	page_key_make(&key, PAGE_HOME, NULL, PAGE_VALUES(PAGE_TEXT(longer), PAGE_NUMBER(1)));
	assert_int_equal(key.len, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_only_equal_requests_share_a_key),
		cmocka_unit_test(test_text_does_not_stand_for_a_right),
		cmocka_unit_test(test_a_key_that_is_too_long_is_none),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
