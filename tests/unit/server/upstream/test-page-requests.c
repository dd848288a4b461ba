// SPDX-License-Identifier: Apache-2.0
// How many clients may wait for pages of upstream. test-upstream-pages.c has the rest.
#include "server/upstream/page-requests.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "lib/base/buf.h"
#include "lib/base/limits.h"
#include "lib/base/mem.h"
#include "tests/unit/support/sleeper.h"

enum { FIRST = 1 }; // it is under way, and does not wait

static const struct config_order all = {.count = 1};

static void begin_none(void *ctx UNUSED, const char *project UNUSED, const struct config_order *order UNUSED)
{
}

// Asks for pages, each for another project, until one is refused. Returns how many were not.
static size_t ask_until_full(struct page_requests *a, const char *peer, struct sleeper *s)
{
	char project[32];
	for (size_t i = 0; i <= LIMIT_PAGES_WAITING; i++) {
		snprintf(project, sizeof(project), "p%zu-of-%s", i, peer);
		sleeper_init(&s[i]);
		if (page_requests_join(a, project, &all, peer, &s[i].base) == PAGE_REQUESTS_FULL)
			return i;
	}
	return LIMIT_PAGES_WAITING + 1;
}

// Exceeds LIMIT_PAGES_WAITING.
static void waiting_pages_are_limited(void **state UNUSED)
{
	enum { SHARE = LIMIT_PAGES_WAITING / 4 * 3 };
	struct sleeper *s = xcalloc(2 * (LIMIT_PAGES_WAITING + 1), sizeof(*s)), *others = s + LIMIT_PAGES_WAITING + 1;
	struct page_requests *a = page_requests_new(1, NULL, begin_none, NULL);
	assert_int_equal(ask_until_full(a, "192.0.2.1", s), SHARE + FIRST);
	assert_int_equal(ask_until_full(a, "192.0.2.2", others), LIMIT_PAGES_WAITING - SHARE);
	page_requests_cancel(a);
	assert_int_equal(s[SHARE].woken, 1);
	page_requests_free(a);
	free(s);
}

static void note_order(void *ctx, const char *project UNUSED, const struct config_order *order)
{
	buf_printf(ctx, "%d ", order->item[0]);
}

// Who wants a project of other upstreams than those that are asked waits, and asks then; who asked does not ask again.
static void another_order_is_asked_after_the_first(void **state UNUSED)
{
	static const struct config_order zero = {.count = 1}, one = {.item = {1}, .count = 1},
					 both = {.item = {1, 0}, .count = 2};
	CLEANUP(buf_release) struct buf begun = buf_up_to(100);
	struct page_requests *a = page_requests_new(8, NULL, note_order, &begun);
	struct sleeper s[3];
	for (int i = 0; i < 3; i++)
		sleeper_init(&s[i]);
	assert_int_equal(page_requests_join(a, "p", &zero, NULL, &s[0].base), PAGE_REQUESTS_JOINED);
	assert_int_equal(page_requests_join(a, "p", &one, NULL, &s[1].base), PAGE_REQUESTS_JOINED);
	assert_string_equal(begun.data, "0 ");
	page_requests_end(a, "p", NULL);
	assert_int_equal(s[0].woken + s[1].woken, 2);
	assert_false(page_requests_may_ask(a, "p", &zero, 1, 0));
	assert_true(page_requests_may_ask(a, "p", &one, 2, 0));
	assert_int_equal(page_requests_join(a, "p", &one, NULL, &s[2].base), PAGE_REQUESTS_JOINED);
	assert_string_equal(begun.data, "0 1 ");
	assert_int_equal(s[2].woken, 0);
	page_requests_end(a, "p", NULL);
	assert_int_equal(s[2].woken, 1);
	assert_false(page_requests_may_ask(a, "p", &one, 2, 0) || page_requests_may_ask(a, "p", &zero, 1, 0));
	assert_false(page_requests_may_ask(a, "p", &both, 3, 0)); // both were asked just now
	page_requests_free(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(waiting_pages_are_limited), cmocka_unit_test(another_order_is_asked_after_the_first)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
