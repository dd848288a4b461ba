// SPDX-License-Identifier: Apache-2.0
#include "server/pages/coverage-query.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static bool read_query(struct coverage_query *q, const char *format, const char *const arguments[][2], size_t count)
{
	struct request r = {.format = format};
	*q = (struct coverage_query){0};
	for (size_t i = 0; i < count; i++)
		request_take_argument(&r, str_from(arguments[i][0]), arguments[i][1]);
	CLEANUP(reply_cleanup) struct reply *refused = coverage_query_read(&r, q);
	assert_true(!refused || refused->status == 400);
	return !refused;
}

static void assert_url(const struct coverage_query *q, const char *after, const char *want)
{
	CLEANUP(buf_release) struct buf url;
	buf_init(&url, LIMIT_PATH);
	coverage_query_url(q, after, &url);
	assert_string_equal(url.data, want);
}

static void test_reads_and_writes_urls(void **state UNUSED)
{
	static const char *const arguments[][2] = {{"projects", "Zope.*,six+a_b"}, {"platforms", "ubuntu-*"},
		{"python", "3.1%3F"}, {"state", "missing,failed"}, {"after", "b"}, {"limit", "7"}};
	struct coverage_query q;
	assert_true(read_query(&q, "csv", arguments, ARRAY_SIZE(arguments)));
	assert_int_equal(q.form, COVERAGE_CSV);
	assert_string_equal(q.projects, "zope-* six a-b");
	assert_true(q.wants_state[WHEEL_MISSING] && q.wants_state[WHEEL_FAILED] && !q.wants_state[WHEEL_OURS]);
	assert_url(&q, "c",
		"coverage?projects=zope-%2A%20six%20a-b&platforms=ubuntu-%2A&python=3.1%3F&state=missing%20failed&after=c"
		"&format=csv&limit=7");
}

// Exceeds LIMIT_COVERAGE_ROWS.
static void test_limits(void **state UNUSED)
{
	static const struct {
		const char *format, *limit;
		size_t want;
	} table[] = {{NULL, "", 50}, {"json", "", LIMIT_COVERAGE_ROWS}, {"csv", "0", LIMIT_COVERAGE_ROWS},
		{NULL, "1000", LIMIT_COVERAGE_ROWS}, {NULL, "1001", LIMIT_COVERAGE_ROWS}, {NULL, "1", 1},
		{NULL, "99999999999999999999999", LIMIT_COVERAGE_ROWS}, {NULL, "x", 50}};
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		struct coverage_query q;
		const char *const arguments[][2] = {{"limit", table[i].limit}};
		assert_true(read_query(&q, table[i].format, arguments, 1));
		assert_int_equal(q.limit, table[i].want);
	}
}

// Exceeds LIMIT_COVERAGE_CELLS, LIMIT_COVERAGE_TEXT, LIMIT_COVERAGE_MS.
static void test_a_page_ends(void **state UNUSED)
{
	enum { BEGUN = 1000, COLUMNS = 500 };
	static const struct {
		struct coverage_taken taken;
		int64_t ms;
		bool is_full;
	} table[] = {
		{{9, COLUMNS, 1, BEGUN}, 1, false},
		{{10, COLUMNS, 1, BEGUN}, 1, true}, // the rows that the client wants
		{{9, LIMIT_COVERAGE_CELLS / 9, 1, BEGUN}, 1, false},
		{{9, LIMIT_COVERAGE_CELLS / 9 + 1, 1, BEGUN}, 1, true},
		{{9, COLUMNS, LIMIT_COVERAGE_TEXT - 1, BEGUN}, 1, false},
		{{9, COLUMNS, LIMIT_COVERAGE_TEXT, BEGUN}, 1, true},
		{{9, COLUMNS, 1, BEGUN}, LIMIT_COVERAGE_MS - 1, false},
		{{9, COLUMNS, 1, BEGUN}, LIMIT_COVERAGE_MS, true},
	};
	const struct coverage_query q = {.limit = 10};
	for (size_t i = 0; i < ARRAY_SIZE(table); i++)
		if (coverage_query_is_full(&q, &table[i].taken, BEGUN + table[i].ms) != table[i].is_full)
			fail_msg("row %zu", i);
}

static void test_refuses_what_is_not_valid(void **state UNUSED)
{
	char longest[REQUEST_ARGUMENT_SIZE + 1];
	struct coverage_query q;
	memset(longest, 'a', sizeof(longest));
	longest[REQUEST_ARGUMENT_SIZE] = '\0';
	const char *const too_long[][2] = {{"projects", longest}};
	assert_false(read_query(&q, NULL, too_long, 1));
	longest[REQUEST_ARGUMENT_SIZE - 1] = '\0';
	assert_true(read_query(&q, NULL, too_long, 1));
	static const char *const no_state[][2] = {{"state", "green"}};
	assert_false(read_query(&q, NULL, no_state, 1));
}

static void test_lists(void **state UNUSED)
{
	static const struct {
		const char *list, *name;
		bool has;
	} table[] = {{"", "a", true}, {"  ", "a", true}, {"a", "a", true}, {"b a", "a", true}, {"b", "a", false},
		{"a*", "abc", true}, {"[ab]c", "bc", true}, {"[x]", "[x]", true}, {"*b*", "abc", true}, {"?", "ab", false}};
	for (size_t i = 0; i < ARRAY_SIZE(table); i++)
		if (coverage_query_has(table[i].list, table[i].name) != table[i].has)
			fail_msg("'%s' and '%s'", table[i].list, table[i].name);
}

static void test_url_of_a_cell(void **state UNUSED)
{
	CLEANUP(buf_release) struct buf url;
	buf_init(&url, LIMIT_PATH);
	coverage_query_cell_url("six", "a&b", "3.13t", &url);
	assert_string_equal(url.data, "coverage?projects=six&platforms=a%26b&python=3.13t");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reads_and_writes_urls),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_a_page_ends),
		cmocka_unit_test(test_refuses_what_is_not_valid),
		cmocka_unit_test(test_lists),
		cmocka_unit_test(test_url_of_a_cell),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
