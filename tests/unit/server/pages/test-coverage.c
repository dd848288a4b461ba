// SPDX-License-Identifier: Apache-2.0
#include "server/pages/coverage.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static bool read_query(struct page_query *q, enum page_form form, const char *const arguments[][2], size_t count)
{
	struct request r = {0};
	*q = (struct page_query){.page = &coverage_page, .form = form};
	for (size_t i = 0; i < count; i++)
		request_take_argument(&r, str_from(arguments[i][0]), arguments[i][1]);
	CLEANUP(reply_cleanup) struct reply *refused = page_read_arguments(q, &r);
	assert_true(!refused || refused->status == 400);
	return !refused;
}

static void assert_url(const struct page_query *q, const char *after, const char *want)
{
	CLEANUP(buf_release) struct buf url;
	buf_init(&url, LIMIT_PATH);
	coverage_url(q, q->form, q->limit, after, &url);
	assert_string_equal(url.data, want);
}

static void test_reads_and_writes_urls(void **state UNUSED)
{
	static const char *const arguments[][2] = {{"projects", "Zope.*,six+a_b"}, {"platforms", "ubuntu-*"},
		{"python", "3.1%3F"}, {"state", "missing,failed"}, {"after", "b"}, {"limit", "7"}};
	struct page_query q;
	assert_true(read_query(&q, PAGE_FORM_CSV, arguments, ARRAY_SIZE(arguments)));
	assert_string_equal(q.text[ARGUMENT_PROJECTS], "zope-* six a-b");
	assert_string_equal(q.text[ARGUMENT_STATE], "missing failed");
	assert_url(&q, "c",
		"coverage?projects=zope-%2A%20six%20a-b&platforms=ubuntu-%2A&python=3.1%3F&state=missing%20failed&after=c"
		"&format=csv&limit=7");
}

// Exceeds LIMIT_COVERAGE_ROWS.
static void test_limits(void **state UNUSED)
{
	static const struct {
		enum page_form form;
		const char *limit;
		size_t want;
	} table[] = {{PAGE_FORM_HTML, "", 50}, {PAGE_FORM_JSON, "", LIMIT_COVERAGE_ROWS},
		{PAGE_FORM_CSV, "0", LIMIT_COVERAGE_ROWS}, {PAGE_FORM_HTML, "1000", LIMIT_COVERAGE_ROWS},
		{PAGE_FORM_HTML, "1001", LIMIT_COVERAGE_ROWS}, {PAGE_FORM_HTML, "1", 1},
		{PAGE_FORM_HTML, "99999999999999999999999", LIMIT_COVERAGE_ROWS}, {PAGE_FORM_HTML, "x", 50}};
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		struct page_query q;
		const char *const arguments[][2] = {{"limit", table[i].limit}};
		assert_true(read_query(&q, table[i].form, arguments, 1));
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
	for (size_t i = 0; i < ARRAY_SIZE(table); i++)
		if (coverage_is_full(10, &table[i].taken, BEGUN + table[i].ms) != table[i].is_full)
			fail_msg("row %zu", i);
}

static void test_refuses_what_is_not_valid(void **state UNUSED)
{
	char longest[REQUEST_ARGUMENT_SIZE + 1];
	struct page_query q;
	memset(longest, 'a', sizeof(longest));
	longest[REQUEST_ARGUMENT_SIZE] = '\0';
	const char *const too_long[][2] = {{"projects", longest}};
	assert_false(read_query(&q, PAGE_FORM_HTML, too_long, 1));
	longest[REQUEST_ARGUMENT_SIZE - 1] = '\0';
	assert_true(read_query(&q, PAGE_FORM_HTML, too_long, 1));
	static const char *const no_state[][2] = {{"state", "green"}};
	assert_false(read_query(&q, PAGE_FORM_HTML, no_state, 1));
}

static void test_url_of_a_cell(void **state UNUSED)
{
	CLEANUP(buf_release) struct buf url;
	buf_init(&url, LIMIT_PATH);
	coverage_cell_url("six", "a&b", "3.13t", &url);
	assert_string_equal(url.data, "coverage?projects=six&platforms=a%26b&python=3.13t");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reads_and_writes_urls),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_a_page_ends),
		cmocka_unit_test(test_refuses_what_is_not_valid),
		cmocka_unit_test(test_url_of_a_cell),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
