// SPDX-License-Identifier: Apache-2.0
#include "server/core/simple-pages.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lib/base/strset.h"
#include "lib/format/digest.h"

static char wheels[] = "wheels", tested[] = "tested";
static struct view views[] = {
	{.generation = GENERATION_NEWEST},
	{.name = wheels, .generation = GENERATION_NEWEST},
	{.name = tested, .membership = tested, .generation = GENERATION_NEWEST},
};
static char part_name[] = "wheels/tested";
static struct view part = {.name = part_name, .whole = &views[1], .generation = GENERATION_NEWEST};
static _Atomic int64_t newest[ARRAY_SIZE(views)];
static struct site site = {.view = views, .view_count = ARRAY_SIZE(views), .newest = newest};

static void add_key(struct strset *keys, const struct simple_page *p)
{
	struct page_key key;
	char text[2 * PAGE_KEY_SIZE + 1];
	simple_pages_key(p, &key);
	assert_true(key.len > 0);
	hex_encode((const uint8_t *)key.bytes, key.len, text);
	text[2 * key.len] = '\0';
	strset_add(keys, text);
}

// Each page has a key of its own: views, generations, also large ones, pages of past generations, projects, variants.
static void test_keys_differ(void **state UNUSED)
{
	static const int64_t generations[] = {0, 1, 2, 15, 16, 17, 255, 256, 4096, INT64_MAX};
	static const char *const projects[] = {"", "a", "b", "tested"};
	CLEANUP(strset_release) struct strset keys = {0};
	size_t count = 0;
	for (size_t p = 0; p < ARRAY_SIZE(projects); p++)
		for (int v = 0; v < VARIANT_COUNT * PAGE_CODING_COUNT; v++) {
			struct simple_page k = {.project = projects[p],
				.variant = (enum variant)(v / PAGE_CODING_COUNT),
				.coding = (enum page_coding)(v % PAGE_CODING_COUNT)};
			for (size_t i = 0; i < 3; i++, count++) {
				k.view = i == 2 ? &part : &views[i];
				add_key(&keys, &k);
			}
			k.view = &views[2];
			for (size_t g = 0; g < ARRAY_SIZE(generations); g++)
				for (uint64_t changes = 0; changes < 4; changes++, count++) {
					k.generation = generations[g];
					k.is_past = changes > 0;
					k.changes = changes == 3 ? UINT64_MAX : changes;
					add_key(&keys, &k);
				}
		}
	strset_sort(&keys);
	for (size_t i = 1; i < keys.count; i++)
		assert_string_not_equal(keys.item[i - 1], keys.item[i]);
	assert_int_equal(keys.count, count);
}

static bool is_kept(struct server_context *s, const struct simple_page *p)
{
	struct page_key key;
	simple_pages_key(p, &key);
	CLEANUP(reply_cleanup) struct reply *r = pagecache_get(s->pagecache, &key);
	return r != NULL;
}

static void keep(struct server_context *s, const struct simple_page *p)
{
	struct page_key key;
	simple_pages_key(p, &key);
	CLEANUP(reply_cleanup) struct reply *r = reply_text(200, "a page");
	pagecache_put(s->pagecache, &key, r, 0, pagecache_epoch(s->pagecache, &key, pagecache_cleared(s->pagecache)));
}

// A change of a project drops its pages of the newest generation, and gives those of past ones other keys.
static void test_drops(void **state UNUSED)
{
	struct server_context s = {.pagecache = pagecache_new(1 << 20)};
	atomic_store(&s.site, &site);
	newest[2] = 7;
	const struct simple_page page = {.site = &site, .view = &views[2], .generation = 7, .project = "foo"},
			      list = {.site = &site, .view = &views[2], .generation = 7, .project = ""},
			      plain_list = {.site = &site, .view = &views[1], .generation = GENERATION_NEWEST, .project = ""};
	uint64_t before = simple_pages_changes(&s, &views[2], "foo", 0), of_list = simple_pages_changes(&s, &views[2], "", 0);
	keep(&s, &page);
	keep(&s, &list);
	keep(&s, &plain_list);
	assert_true(is_kept(&s, &page) && is_kept(&s, &list) && is_kept(&s, &plain_list));
	simple_pages_drop_project(&s, "foo");
	assert_true(!is_kept(&s, &page) && is_kept(&s, &list));
	assert_true(simple_pages_changes(&s, &views[2], "foo", 0) != before);
	simple_pages_drop_member_lists(&s);
	assert_true(!is_kept(&s, &list) && is_kept(&s, &plain_list));
	assert_true(simple_pages_changes(&s, &views[2], "", 0) != of_list);
	simple_pages_drop_lists(&s);
	assert_false(is_kept(&s, &plain_list));
	assert_true(simple_pages_changes(&s, &views[2], "foo", 1) != simple_pages_changes(&s, &views[2], "foo", 0));
	pagecache_free(s.pagecache);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_keys_differ),
		cmocka_unit_test(test_drops),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
